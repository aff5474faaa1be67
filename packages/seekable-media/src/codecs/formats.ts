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

/** Extension and media type of a file. */
export interface FileType {
  /** With a leading dot. */
  readonly fileExtension: string;
  readonly mimeType: string;
}

/** By container: the media type of a file with video, and of an audio-only file. */
const MEDIA_TYPES: Readonly<Record<string, readonly [video: string, audio: string]>> = {
  mp4: ['video/mp4', 'audio/mp4'],
  m4v: ['video/mp4', 'audio/mp4'],
  m4a: ['video/mp4', 'audio/mp4'],
  webm: ['video/webm', 'audio/webm'],
  weba: ['video/webm', 'audio/webm'],
  mkv: ['video/x-matroska', 'audio/x-matroska'],
  mka: ['video/x-matroska', 'audio/x-matroska'],
  mov: ['video/quicktime', 'audio/quicktime'],
  ts: ['video/mp2t', 'video/mp2t'],
  ogv: ['video/ogg', 'audio/ogg'],
  ogg: ['video/ogg', 'audio/ogg'],
  oga: ['video/ogg', 'audio/ogg'],
  opus: ['audio/ogg', 'audio/ogg'],
  mp3: ['audio/mpeg', 'audio/mpeg'],
  aac: ['audio/aac', 'audio/aac'],
  flac: ['audio/flac', 'audio/flac'],
  wav: ['audio/wav', 'audio/wav'],
  aiff: ['audio/aiff', 'audio/aiff'],
  flv: ['video/x-flv', 'video/x-flv'],
  avi: ['video/x-msvideo', 'video/x-msvideo'],
  mpg: ['video/mpeg', 'audio/mpeg'],
  mpeg: ['video/mpeg', 'audio/mpeg'],
  wmv: ['video/x-ms-wmv', 'audio/x-ms-wma'],
  wma: ['video/x-ms-wmv', 'audio/x-ms-wma'],
  '3gp': ['video/3gpp', 'audio/3gpp'],
  amr: ['audio/amr', 'audio/amr'],
  ac3: ['audio/ac3', 'audio/ac3'],
  au: ['audio/basic', 'audio/basic'],
};

/** Extensions that differ for audio-only files. */
const AUDIO_ONLY_EXTENSION: Readonly<Record<string, string>> = { mp4: 'm4a', m4v: 'm4a', ogv: 'ogg' };

/** Whether files of this container are offered: any other extension could be that of a program. */
export const isMediaContainer = (container: string): boolean => Object.hasOwn(MEDIA_TYPES, container);

/** Whether a file is QuickTime, which has the boxes of MP4, and more codecs. Case-insensitive: some sources write it in capitals. */
export const isQuickTime = (container: string): boolean => /^mov$/i.test(container);
/** Whether the container is MP4 by any of its extensions, or QuickTime. */
export const isMp4Container = (container: string): boolean =>
  /^(?:mp4|m4a|m4v)$/i.test(container) || isQuickTime(container);

/** An unknown container, of a track stored by an earlier version, has no extension of its own: `.bin`. */
export function fileType(container: string, hasVideo: boolean): FileType {
  if (!isMediaContainer(container)) return { fileExtension: '.bin', mimeType: 'application/octet-stream' };
  const [video, audio] = MEDIA_TYPES[container] ?? ['', ''];
  const extension = hasVideo ? container : (AUDIO_ONLY_EXTENSION[container] ?? container);
  return { fileExtension: `.${extension}`, mimeType: hasVideo ? video : audio };
}
