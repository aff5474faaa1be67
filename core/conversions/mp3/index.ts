export {
  MP3_BITRATE_KBPS,
  MP3_FRAME_BYTES,
  MP3_SAMPLE_RATE,
  MP3_SAMPLES_PER_FRAME,
  mp3,
  mp3Frames,
} from './mp3.ts';
