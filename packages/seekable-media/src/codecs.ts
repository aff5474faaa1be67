import { duration } from './values.ts';

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

/** Types of containers that do not tell the codec by themselves (RFC 6381). */
const CONTAINERS = /^(?:video|audio)\/(?:mp4|webm|ogg|quicktime|3gpp|x-matroska)$/;
/** The name of a sample entry with parameters, as `avc1.64001f`. */
const COMPLETE = /^\w{4}\.[\w.-]+$/;
/** Names without parameters, such as `vp8`. Anything else could not stand in quotes. */
const NAME = /^[\w-]+$/;

/** What players ask for where only the family is known: a profile that devices which play the family support. */
const TYPICAL = {
  h264: 'avc1.640028',
  av1: 'av01.0.08M.08',
  hevc: 'hvc1.1.6.L120.90',
  vp9: 'vp09.00.10.08',
  mpeg4: 'mp4v.20.9',
  mp3: 'mp4a.6B',
  aac: 'mp4a.40.2',
  opus: 'opus',
  flac: 'flac',
  ac3: 'ac-3',
} as const;

/** Profiles of VP9 as yt-dlp names them: 1 to 3. Those from 2 on have 10 bits. */
const VP9_PROFILE = /^vp9\.([1-3])$/i;

/**
 * A content type with the codecs of its tracks, as `canPlayType` and Media Source Extensions take it:
 * `video/mp4; codecs="avc1.640028, mp4a.40.2"`. Short names (`h264`) become the typical profile of their family. Without the
 * parameter where the type tells the codec (`audio/mpeg`), or one of them is unknown.
 * @param codecs of every track, as RFC 6381 or a site names them
 */
export function contentType(mimeType: string, codecs: readonly (string | undefined)[]): string {
  const names = codecs.map((codec) => (codec === undefined ? undefined : parameterOf(codec)));
  if (!CONTAINERS.test(mimeType) || names.length === 0 || names.includes(undefined)) return mimeType;
  return `${mimeType}; codecs="${names.join(', ')}"`;
}

function parameterOf(codec: string): string | undefined {
  if (COMPLETE.test(codec)) return codec;
  const [, profile] = VP9_PROFILE.exec(codec) ?? [];
  if (profile) return `vp09.0${profile}.10.${Number(profile) < 2 ? '08' : '10'}`;
  if (/^e-?a?c-?3$/i.test(codec)) return 'ec-3';
  const family = videoFamily(codec) ?? audioFamily(codec);
  return family ? TYPICAL[family] : NAME.test(codec) ? codec.toLowerCase() : undefined;
}

/** A container recognized by its first bytes. */
interface Sniffed {
  readonly container: string;
  readonly audioOnly: boolean;
  /** Seconds, where the header states them. */
  readonly durationSeconds?: number | undefined;
}

type Magic = readonly [offset: number, bytes: string, container: string, audioOnly?: 'audio'];

/** Formats that mediabunny does not read, and those it reads only when the index is within reach. */
const MAGIC: readonly Magic[] = [
  [8, 'AVI ', 'avi'],
  [0, 'FLV\x01', 'flv'],
  [0, '\x30\x26\xb2\x75\x8e\x66\xcf\x11', 'wmv'],
  [0, '\0\0\x01\xba', 'mpg'],
  [0, '#!AMR', 'amr', 'audio'],
  [8, 'AIFF', 'aiff', 'audio'],
  [8, 'AIFC', 'aiff', 'audio'],
  // E-AC-3 as well: players tell them apart.
  [0, '\x0b\x77', 'ac3', 'audio'],
  [0, '.snd', 'au', 'audio'],
  [0, '\x1a\x45\xdf\xa3', 'mkv'],
  [4, 'ftypM4A ', 'm4a', 'audio'],
  [4, 'ftypM4B ', 'm4a', 'audio'],
  [4, 'ftypqt  ', 'mov'],
  [4, 'ftypiso', 'mp4'],
  [4, 'ftypmp4', 'mp4'],
  [4, 'ftypavc1', 'mp4'],
  [4, 'ftypM4V', 'mp4'],
  [4, 'ftypdash', 'mp4'],
  [4, 'ftyp3gp', '3gp'],
  [0, 'fLaC', 'flac', 'audio'],
  [0, 'ID3', 'mp3', 'audio'],
];

/** Recognizes the container of a file by its magic bytes. @returns undefined when it is not media */
export function sniff(head: Buffer): Sniffed | undefined {
  const found = MAGIC.find(([offset, bytes]) => head.toString('latin1', offset, offset + bytes.length) === bytes);
  if (!found) return undefined;
  const [, , container, audioOnly] = found;
  const seconds = container === 'avi' ? readAvi(head) : container === 'aiff' ? readAiff(head) : undefined;
  return { container, audioOnly: audioOnly === 'audio', durationSeconds: duration(seconds) };
}

/** Seconds of the sound of AVI, else of the picture: the length of a stream by its time base (`AVISTREAMHEADER`). */
export function readAvi(head: Buffer): number | undefined {
  const streams = chunksOf(head, 'LE').filter(({ id, content }) => id === 'strh' && content + 36 <= head.length);
  const secondsOf = (kind: string) =>
    streams
      .filter(({ content }) => head.toString('latin1', content, content + 4) === kind)
      .map(({ content: at }) => (head.readUInt32LE(at + 32) * head.readUInt32LE(at + 20)) / head.readUInt32LE(at + 24))
      .find(duration);
  return secondsOf('auds') ?? secondsOf('vids');
}

/** Encodings of AIFC that are counted in samples: no packets. */
const PCM = /^(?:NONE|sowt|twos|raw |in24|in32|fl32|fl64)$/i;

/** Seconds of AIFF: samples by their rate, a number of 80 bits (`CommonChunk`). */
export function readAiff(head: Buffer): number | undefined {
  const { content = 0, end = 0 } = chunksOf(head, 'BE').find(({ id }) => id === 'COMM') ?? {};
  if (end < content + 18 || end > head.length) return undefined;
  const isPcm = end < content + 22 || PCM.test(head.toString('latin1', content + 18, content + 22));
  const rate = head.readUInt32BE(content + 10) * 2 ** (head.readUInt16BE(content + 8) - 16_383 - 31);
  return isPcm ? head.readUInt32BE(content + 2) / rate : undefined;
}

/** The chunks of a RIFF or an IFF file, those in lists among them, as far as they begin in the first bytes. */
function chunksOf(head: Buffer, order: 'LE' | 'BE') {
  const chunks: { readonly id: string; readonly content: number; readonly end: number }[] = [];
  for (let at = 12; at + 8 <= head.length; ) {
    const id = head.toString('latin1', at, at + 4);
    const end = at + 8 + head[`readUInt32${order}`](at + 4);
    chunks.push({ id, content: at + 8, end });
    // Their size is even in the file. A list has a name in front of its chunks.
    at = id === 'LIST' ? at + 12 : end + (end & 1);
  }
  return chunks;
}
