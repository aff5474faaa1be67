export {
  id3Tag,
  MP3_BITRATE_KBPS,
  MP3_FRAME_BYTES,
  MP3_SAMPLE_RATE,
  MP3_SAMPLES_PER_FRAME,
  mp3Frames,
  mp3SizeBytes,
  tagText,
} from './mp3-format.ts';
