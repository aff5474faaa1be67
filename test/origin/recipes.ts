/** Durations in seconds: the short clip, the formats of the watch site, the long clip. */
export const SECONDS = { clip: 6, ladder: 8, long: 300 } as const;

/** An FFmpeg command that creates one or more files, with paths relative to the media folder. */
export interface Recipe {
  readonly folder?: string;
  /** Arguments of FFmpeg after the common ones. */
  readonly args: readonly string[];
  /** May fail when FFmpeg lacks the encoder. */
  readonly optional?: boolean;
}

/** A moving test picture with a clock. */
const picture = (size: string, seconds: number, fps = 25) => [
  '-f',
  'lavfi',
  '-i',
  `testsrc2=size=${size}:rate=${fps}:duration=${seconds}`,
];

/** A tone that identifies the second: its pitch rises by 50 Hz every second, for 40 seconds at a time. */
const sound = (seconds: number) => [
  '-f',
  'lavfi',
  '-i',
  `aevalsrc=exprs='0.3*sin(2*PI*(300+50*mod(floor(t),40))*t)':sample_rate=48000:duration=${seconds}`,
];

const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25'];
const VP9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '200k', '-g', '25'];
const AAC = (kbps: number) => ['-c:a', 'aac', '-ac', '2', '-b:a', `${kbps}k`];
const OPUS = ['-c:a', 'libopus', '-b:a', '96k'];
const HLS = ['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', '-hls_list_size', '0'];
const DASH = ['-f', 'dash', '-seg_duration', '2', '-adaptation_sets', 'id=0,streams=v id=1,streams=a'];

/** An AES-128 key, public. */
export const AES_KEY = Buffer.from('00112233445566778899aabbccddeeff', 'hex');

/** All media of the origin. In order: later recipes copy from earlier files. */
export const recipes: readonly Recipe[] = [
  {
    args: [
      ...picture('320x180', SECONDS.clip),
      ...sound(SECONDS.clip),
      ...H264,
      ...AAC(96),
      ...['-metadata', 'title=Clip', '-movflags', '+faststart', 'clip.mp4'],
    ],
  },
  { args: ['-i', 'clip.mp4', '-c', 'copy', 'clip-tail.mp4'] },
  { args: ['-i', 'clip.mp4', '-c', 'copy', 'clip.mkv'] },
  { args: ['-i', 'clip.mp4', '-c', 'copy', '-an', '-movflags', '+faststart', 'silent.mp4'] },
  { args: [...picture('320x180', SECONDS.clip), ...sound(SECONDS.clip), ...VP9, ...OPUS, 'clip.webm'] },
  {
    args: [
      ...sound(SECONDS.clip),
      ...['-map', '0', ...AAC(128), '-movflags', '+faststart', 'tone.m4a'],
      ...['-map', '0', '-c:a', 'libmp3lame', '-b:a', '128k', 'tone.mp3'],
      ...['-map', '0', ...OPUS, 'tone.ogg'],
      ...['-map', '0', ...OPUS, 'tone.webm'],
      ...['-map', '0', '-c:a', 'flac', 'tone.flac'],
      ...['-map', '0', '-c:a', 'pcm_s16le', 'tone.wav'],
    ],
  },
  {
    args: [
      ...picture('160x90', SECONDS.long, 10),
      ...sound(SECONDS.long),
      ...[...H264, ...AAC(64), '-movflags', '+faststart', 'long.mp4'],
    ],
  },
  { args: ['-i', 'long.mp4', '-c', 'copy', '-an', '-movflags', '+faststart', 'long-video.mp4'] },
  { args: ['-i', 'long.mp4', '-c', 'copy', '-vn', '-movflags', '+faststart', 'long-audio.m4a'] },
  {
    folder: 'ladder',
    args: [
      ...picture('1280x720', SECONDS.ladder),
      ...sound(SECONDS.ladder),
      ...['-map', '0:v', ...H264, '-movflags', '+faststart', 'ladder/h264-720.mp4'],
      ...['-map', '0:v', ...H264, '-vf', 'scale=640:360', '-movflags', '+faststart', 'ladder/h264-360.mp4'],
      ...['-map', '0:v', ...VP9, '-vf', 'scale=640:360', 'ladder/vp9-360.webm'],
      ...['-map', '1:a', ...AAC(128), '-movflags', '+faststart', 'ladder/aac-128.m4a'],
      ...['-map', '1:a', ...AAC(48), '-movflags', '+faststart', 'ladder/aac-48.m4a'],
      ...['-map', '1:a', ...OPUS, 'ladder/opus-96.webm'],
      ...['-map', '1:a', '-c:a', 'libmp3lame', '-b:a', '256k', 'ladder/mp3-256.mp3'],
    ],
  },
  {
    args: [
      ...['-i', 'ladder/h264-720.mp4', '-vf', 'scale=1920:1080', ...H264],
      ...['-movflags', '+faststart', 'ladder/h264-1080.mp4'],
    ],
  },
  ...[720, 360].map((height) => ({
    args: [
      ...['-i', `ladder/h264-${height}.mp4`, '-i', 'ladder/aac-128.m4a', '-c', 'copy'],
      ...['-movflags', '+faststart', `ladder/both-${height}.mp4`],
    ],
  })),
  {
    args: [
      ...['-i', 'ladder/h264-360.mp4', '-vf', 'scale=320:180', '-c:v', 'libsvtav1', '-preset', '12'],
      ...['-movflags', '+faststart', 'ladder/av1-180.mp4'],
    ],
    optional: true,
  },
  {
    folder: 'hls/ts',
    args: ['-i', 'clip.mp4', '-c', 'copy', ...HLS, '-hls_segment_filename', 'hls/ts/%d.ts', 'hls/ts/index.m3u8'],
  },
  {
    // Interlaced: no file is made of it.
    folder: 'hls/fields',
    args: [
      ...['-i', 'clip.mp4', '-c:v', 'libx264', '-preset', 'ultrafast', '-flags', '+ilme+ildct', '-c:a', 'copy', ...HLS],
      ...['-hls_segment_filename', 'hls/fields/%d.ts', 'hls/fields/index.m3u8'],
    ],
  },
  {
    folder: 'hls/fmp4',
    args: [
      ...['-i', 'clip.mp4', '-c', 'copy', ...HLS, '-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', 'init.mp4'],
      ...['-hls_segment_filename', 'hls/fmp4/%d.m4s', 'hls/fmp4/index.m3u8'],
    ],
  },
  {
    folder: 'hls/aes',
    args: [
      ...['-i', 'clip.mp4', '-c', 'copy', ...HLS, '-hls_key_info_file', 'hls/aes.keyinfo'],
      ...['-hls_segment_filename', 'hls/aes/%d.ts', 'hls/aes/index.m3u8'],
    ],
  },
  ...[720, 360].map((height) => ({
    folder: `hls/v${height}`,
    args: [
      ...['-i', `ladder/h264-${height}.mp4`, '-c', 'copy', ...HLS],
      ...['-hls_segment_filename', `hls/v${height}/%d.ts`, `hls/v${height}/index.m3u8`],
    ],
  })),
  {
    folder: 'hls/audio',
    args: [
      ...['-i', 'ladder/aac-128.m4a', '-c', 'copy', ...HLS],
      ...['-hls_segment_filename', 'hls/audio/%d.aac', 'hls/audio/index.m3u8'],
    ],
  },
  {
    folder: 'hls/long',
    args: ['-i', 'long.mp4', '-c', 'copy', ...HLS, '-hls_segment_filename', 'hls/long/%d.ts', 'hls/long/index.m3u8'],
  },
  ...['timeline', 'number'].map((kind) => ({
    folder: `dash/${kind}`,
    args: [
      ...['-i', 'ladder/h264-720.mp4', '-i', 'ladder/h264-360.mp4', '-i', 'ladder/aac-128.m4a'],
      ...['-map', '0', '-map', '1', '-map', '2', '-c', 'copy', ...DASH],
      ...['-use_template', '1', '-use_timeline', kind === 'timeline' ? '1' : '0', `dash/${kind}/manifest.mpd`],
    ],
  })),
  {
    args: [
      ...['-f', 'lavfi', '-i', 'testsrc2=size=640x640:rate=1:duration=1'],
      ...['-frames:v', '1', 'square.jpg', '-frames:v', '1', '-vf', 'crop=640:360', 'wide.jpg'],
    ],
  },
];
