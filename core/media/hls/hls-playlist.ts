import { type ParsedByteRange, type ParsedKey, Parser } from 'm3u8-parser';
import { isRounded } from '../manifests/index.ts';
import { type Cipher, type MediaSection, type Segment, type Timeline, withoutOuterGaps } from '../timeline/index.ts';

/** What a playlist is: segments, or a choice of other playlists of which the best is named. */
export type HlsPlaylist = { readonly kind: 'media'; readonly timeline: Timeline } | HlsMaster;

export interface HlsMaster {
  readonly kind: 'master';
  readonly bestUrl: string;
}

/** A playlist that cannot be read, or is protected. The message is for the log. */
export class PlaylistError extends Error {
  override readonly name = 'PlaylistError';
}

/**
 * Reads an HLS playlist (RFC 8216 §4).
 * @param url where it was found, after redirects: what it names is relative to that
 * @param most segments
 * @throws PlaylistError
 */
export function readPlaylist(text: string, url: string, most: number): HlsPlaylist {
  if (!/^\ufeff?#EXTM3U/.test(text)) throw new PlaylistError('It is not a playlist');
  if (ENDLESS_TAG.test(text)) throw new PlaylistError('It has a tag that would take too long to read');
  const parser = new Parser({ url });
  parser.addParser({ expression: GAP, customType: 'gap', segment: true });
  parser.push(withWholeVectors(text.replace(/^\ufeff/, '')));
  parser.end();
  const { manifest } = parser;

  if (manifest.playlists?.length) {
    const best = manifest.playlists.reduce((a, b) => (bandwidth(b) > bandwidth(a) ? b : a));
    return { kind: 'master', bestUrl: absolute(best.uri, url) };
  }
  if (manifest.contentProtection) throw new PlaylistError('It is protected');
  if (manifest.segments.length > most) throw new PlaylistError('It lists too many segments');

  const first = manifest.mediaSequence ?? 0;
  const sections = new Map<unknown, MediaSection>();
  let isAnew = false;
  const segments = manifest.segments.map((parsed, index): Segment => {
    const { uri, duration, byterange, key, map, custom } = parsed;
    const sequence = first + index;
    const seconds = Math.max(duration ?? 0, 0);
    // Said of a gap, it holds for what comes behind.
    isAnew ||= parsed.discontinuity === true;
    // What it names is not there (draft-pantos-hls-rfc8216bis §4.4.4.7): it is not even looked at.
    if (custom?.gap !== undefined) return { sequence, seconds, content: { url: '' }, isGap: true };
    // The parser gives one object for a map that holds for many segments.
    if (map && !sections.has(map))
      sections.set(map, sectionOf(map.uri, map.byterange, cipherOf(map.key, sequence, url, true), url));
    const init = map && sections.get(map);
    const begins = isAnew && { isAnew };
    isAnew = false;
    return {
      sequence,
      seconds,
      content: sectionOf(uri, byterange, cipherOf(key, sequence, url), url),
      ...(init && { init }),
      ...begins,
    };
  });
  const isComplete = manifest.endList === true;
  return {
    kind: 'media',
    timeline: {
      segments: isComplete ? withoutOuterGaps(segments) : segments,
      isComplete,
      ...(isRounded(text) && { isRounded: true }),
      reloadSeconds: manifest.targetDuration ?? 6,
    },
  };
}

/** The parser looks for a value behind every comma, to the end of the line: a line of nothing else takes it seconds. */
const ENDLESS_TAG = /^#EXT(?:.{16384}|(?:[^,\r\n]*,){65})/m;
const GAP = /^#EXT-X-GAP\s*$/;

const VECTOR = /^(#EXT-X-KEY:(?:.*,)?\s*IV=)"?([^",\r\n]*)"?/gm;

/** An initialization vector is a number (§4.2), which may be written without leading zeros: the parser wants all 32 digits. */
function withWholeVectors(text: string): string {
  return text.replace(VECTOR, (_, before: string, written: string) => {
    const digits = /^(?:0x)?([\da-f]{1,32})\s*$/i.exec(written)?.[1];
    if (digits === undefined) throw new PlaylistError('An initialization vector is no number of 128 bits');
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
  const url = absolute(uri, base);
  const first = range?.offset ?? 0;
  return {
    url,
    ...(range && { range: { first, last: first + range.length - 1 } }),
    ...(cipher && { cipher }),
  };
}

/** Without an IV of its own a segment takes its number (§5.2); an initialization section has none to take. */
function cipherOf(key: ParsedKey | undefined, sequence: number, base: string, needsIv = false): Cipher | undefined {
  if (!key) return undefined;
  if (key.method !== 'AES-128') throw new PlaylistError(`It is protected by ${key.method}`);
  if (needsIv && !key.iv) throw new PlaylistError('It encrypts an initialization section without saying how');
  const iv = Buffer.alloc(16);
  if (key.iv) for (const [index, word] of key.iv.entries()) iv.writeUInt32BE(word, index * 4);
  else iv.writeBigUInt64BE(BigInt(sequence), 8);
  return { keyUrl: absolute(key.uri, base), iv };
}

function absolute(uri: string | undefined, base: string): string {
  const url = URL.parse(uri ?? '', base);
  if (!uri || !url) throw new PlaylistError('It names something that is not a URL');
  return url.href;
}
