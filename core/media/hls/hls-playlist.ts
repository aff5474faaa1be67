import { type ParsedByteRange, type ParsedKey, Parser } from 'm3u8-parser';
import { type Cipher, type MediaSection, type Segment, type Timeline, trimGaps } from '../timeline/index.ts';
import { isHlsPlaylist, isRounded, ivOfSequence } from './hls-text.ts';

/** A media playlist lists segments; a master playlist lists other playlists, of which the best is selected. */
export type HlsPlaylist =
  | { readonly kind: 'media'; readonly timeline: Timeline }
  | { readonly kind: 'master'; readonly bestUrl: string };

/** The playlist is malformed, too large, or protected by DRM. */
export class PlaylistError extends Error {
  override readonly name = 'PlaylistError';
}

export interface HlsPlaylistOptions {
  /** URL of the playlist after redirects: URIs in it are relative to this. */
  readonly url: string;
  readonly maxSegments: number;
}

/** RFC 8216 §6.3.4 bases reloads on the target duration, which is required; some playlists lack it. */
const DEFAULT_TARGET_SECONDS = 6;

/**
 * Parses an HLS playlist (RFC 8216 §4).
 * @throws PlaylistError
 */
export function parseHlsPlaylist(text: string, { url, maxSegments }: HlsPlaylistOptions): HlsPlaylist {
  if (!isHlsPlaylist(text)) throw new PlaylistError('Not an HLS playlist');
  if (SLOW_TAG.test(text)) throw new PlaylistError('A tag exceeds the size limit');
  const parser = new Parser({ url });
  parser.addParser({ expression: GAP, customType: 'gap', segment: true });
  parser.push(padVectors(text.replace(/^\ufeff/, '')));
  parser.end();
  const { manifest } = parser;

  if (manifest.playlists?.length) {
    const best = manifest.playlists.reduce((a, b) => (bandwidth(b) > bandwidth(a) ? b : a));
    return { kind: 'master', bestUrl: absolute(best.uri, url) };
  }
  if (manifest.contentProtection) throw new PlaylistError('The playlist is protected by DRM');
  if (manifest.segments.length > maxSegments) throw new PlaylistError('The playlist has too many segments');

  const firstSequence = manifest.mediaSequence ?? 0;
  const sections = new Map<unknown, MediaSection>();
  let isDiscontinuity = false;
  const segments = manifest.segments.map((parsed, index): Segment => {
    const { uri, duration, byterange, key, map, custom } = parsed;
    const sequence = firstSequence + index;
    const seconds = Math.max(duration ?? 0, 0);
    // A discontinuity at a gap applies to the next segment with media.
    isDiscontinuity ||= parsed.discontinuity === true;
    // The URI of a gap must not be requested (draft-pantos-hls-rfc8216bis §4.4.4.7): it need not even be valid.
    if (custom?.gap !== undefined) return { sequence, seconds, content: { url: '' }, isGap: true };
    // The parser returns one object per EXT-X-MAP, shared by all segments that it applies to.
    if (map && !sections.has(map))
      sections.set(map, sectionOf(map.uri, map.byterange, cipherOf(map.key, sequence, url, true), url));
    const init = map && sections.get(map);
    const content = sectionOf(uri, byterange, cipherOf(key, sequence, url), url);
    const segment = { sequence, seconds, content, init, isDiscontinuity };
    isDiscontinuity = false;
    return segment;
  });
  const isComplete = manifest.endList === true;
  return {
    kind: 'media',
    timeline: {
      segments: isComplete ? trimGaps(segments) : segments,
      isComplete,
      isRounded: isRounded(text),
      reloadSeconds: manifest.targetDuration ?? DEFAULT_TARGET_SECONDS,
    },
  };
}

/** The parser searches for a value after every comma, to the end of the line: quadratic time on a line of commas. */
const SLOW_TAG = /^#EXT(?:.{16384}|(?:[^,\r\n]*,){65})/m;
const GAP = /^#EXT-X-GAP\s*$/;
const VECTOR = /^(#EXT-X-KEY:(?:.*,)?\s*IV=)"?([^",\r\n]*)"?/gm;

/** An initialization vector is a number (RFC 8216 §4.2) that may lack leading zeros; the parser requires all 32 digits. */
function padVectors(text: string): string {
  return text.replace(VECTOR, (_, before: string, written: string) => {
    const digits = /^(?:0x)?([\da-f]{1,32})\s*$/i.exec(written)?.[1];
    if (digits === undefined) throw new PlaylistError('Invalid initialization vector');
    return `${before}0x${digits.padStart(32, '0')}`;
  });
}

const bandwidth = ({ attributes }: { readonly attributes?: { readonly BANDWIDTH?: number } }) =>
  attributes?.BANDWIDTH ?? 0;

function sectionOf(
  uri: string | undefined,
  range: ParsedByteRange | undefined,
  cipher: Cipher | undefined,
  base: string,
): MediaSection {
  const first = range?.offset ?? 0;
  return { url: absolute(uri, base), range: range && { first, last: first + range.length - 1 }, cipher };
}

/** @param isIvRequired for an initialization section, which has no sequence number to derive an IV from */
function cipherOf(
  key: ParsedKey | undefined,
  sequence: number,
  base: string,
  isIvRequired = false,
): Cipher | undefined {
  if (!key) return undefined;
  if (key.method !== 'AES-128') throw new PlaylistError(`Unsupported encryption method ${key.method}`);
  if (isIvRequired && !key.iv) throw new PlaylistError('Encrypted initialization section without an IV');
  return { keyUrl: absolute(key.uri, base), iv: key.iv ? bytesOf(key.iv) : ivOfSequence(sequence) };
}

function bytesOf(words: Uint32Array): Buffer {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word, index * 4);
  return bytes;
}

function absolute(uri: string | undefined, base: string): string {
  const url = URL.parse(uri ?? '', base);
  if (!uri || !url) throw new PlaylistError('Invalid URI in playlist');
  return url.href;
}
