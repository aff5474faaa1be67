export {
  MP3_BITRATE_KBPS,
  MP3_BITRATES_KBPS,
  MP3_FRAME_BYTES,
  MP3_SAMPLE_RATE,
  MP3_SAMPLES_PER_FRAME,
  type Mp3BitrateKbps,
  mp3,
  mp3FrameBytes,
  mp3Frames,
} from './mp3.ts';
