import { audioFamily, videoFamily } from './formats.ts';

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
