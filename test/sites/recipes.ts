/** Arguments of FFmpeg for the small media of sites. */

export const picture = (size: string): string[] => ['-f', 'lavfi', '-i', `testsrc2=s=${size}:r=25:d=6`];
export const sine = (hertz: number): string[] => ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=6`];
export const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '50'];
export const FASTSTART = ['-movflags', '+faststart'];
export const HLS = ['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', '-hls_list_size', '0'];

/** A media playlist with segments in fragmented MP4; the names of all files begin with `name`. */
export const fragmentedHls = (name: string): string[] => [
  ...[...HLS, '-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', `${name}-init.mp4`],
  ...['-hls_segment_filename', `${name}-%d.m4s`, `${name}.m3u8`],
];
