/** Codec families by any spelling: RFC 6381 strings (`avc1.64001f`) or short names (`h264`). */
const VIDEO_FAMILIES = [
  ['h264', /^(?:avc|h\.?264|x264)/i],
  ['av1', /^av0?1/i],
  ['hevc', /^(?:hev|hvc|h\.?265|x265|dvh)/i],
  ['vp9', /^vp0?9/i],
  ['mpeg4', /^(?:mp4v|mpeg-?4|divx|xvid)/i],
] as const;

const AUDIO_FAMILIES = [
  ['mp3', /^(?:mp3|mp4a\.(?:40\.34|6b|69)|mpga)/i],
  ['aac', /^(?:mp4a|aac)/i],
  ['opus', /^opus/i],
  ['flac', /^flac/i],
  ['ac3', /^(?:e?ac-?3|ec-?3)/i],
] as const;

type VideoFamily = (typeof VIDEO_FAMILIES)[number][0];
type AudioFamily = (typeof AUDIO_FAMILIES)[number][0];

const familyOf = <F extends string>(families: readonly (readonly [F, RegExp])[], codec: string): F | undefined =>
  families.find(([, pattern]) => pattern.test(codec))?.[0];

export const videoFamily = (codec: string): VideoFamily | undefined => familyOf(VIDEO_FAMILIES, codec);
export const audioFamily = (codec: string): AudioFamily | undefined => familyOf(AUDIO_FAMILIES, codec);

/** By support of players for MP4, best first. An unnamed codec is nearly always H.264. */
const VIDEO_ORDER: readonly (VideoFamily | 'unknown')[] = ['h264', 'unknown', 'av1', 'hevc', 'vp9', 'mpeg4'];

/** Preference of a video codec among renditions of the same height; lower is better. */
export function videoRank(codec: string | undefined): number {
  const family = codec === undefined ? 'unknown' : videoFamily(codec);
  return family ? VIDEO_ORDER.indexOf(family) : VIDEO_ORDER.length;
}

/** Whether MP4 can contain the codec. An unknown codec is assumed to fit: nearly all separate tracks are MP4. */
export const mp4HoldsVideo = (codec: string | undefined): boolean =>
  codec === undefined || videoFamily(codec) !== undefined;
export const mp4HoldsAudio = (codec: string | undefined): boolean =>
  codec === undefined || audioFamily(codec) !== undefined;
