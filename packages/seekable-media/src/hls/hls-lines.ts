/** Limits and rules of the HLS text format. All functions run in time linear in the length of the text. */

/** The playlist is malformed, or exceeds a limit. */
export class PlaylistError extends Error {
  override readonly name: string = 'PlaylistError';
}

/** Its media is protected by DRM, or encrypted in a way that is not read. */
export class EncryptedPlaylist extends PlaylistError {
  override readonly name = 'EncryptedPlaylist';
}

/** Characters of one tag or URI. Signed URLs of large services have 2,000. */
export const MAX_LINE_CHARS = 16_384;
/** Characters of one URI, and of the URL that URIs are relative to. */
export const MAX_URL_CHARS = 8_192;
/** Lines that are not empty: enough for ten tags of each of 100,000 segments. */
export const MAX_LINES = 1_000_000;
/** Segments of a media playlist: four days of segments of four seconds. */
export const MAX_SEGMENTS = 100_000;
/** Attributes of one tag. RFC 8216 defines 15 for EXT-X-STREAM-INF, the most of all tags. */
export const MAX_ATTRIBUTES = 64;
/** Definitions of one playlist. */
export const MAX_VARIABLES = 64;
/** Characters of all lines of one playlist after variables are substituted: a short playlist must not become a long one. */
export const MAX_SUBSTITUTED_CHARS = 8 * 1024 * 1024;

/** Bytes of an AES-128 initialization vector. */
export const IV_BYTES = 16;

/** Whether the text is an HLS playlist (RFC 8216 §4.3.1.1). A byte order mark is tolerated. */
export const isHlsPlaylist = (text: string): boolean => /^\ufeff?#EXTM3U/.test(text);

/**
 * Whether a playlist has only whole seconds, as before version 3 (RFC 8216 §4.3.2.1): the sum of many rounded durations is
 * not a duration to rely on.
 */
export const hasWholeSeconds = (text: string): boolean => !/^#EXTINF:[ \t]*\d*\.\d/m.test(text);

/** The initialization vector of a segment without an IV attribute: its media sequence number (RFC 8216 §5.2). */
export function ivOfSequence(sequence: number): Buffer {
  const iv = Buffer.alloc(IV_BYTES);
  iv.writeBigUInt64BE(BigInt(sequence), IV_BYTES - 8);
  return iv;
}

/** A line that is not a comment: a tag without its `#`, with what follows the colon, or a URI (RFC 8216 §4.1). */
export type HlsLine =
  | { readonly tag: string; readonly value: string }
  | { readonly tag?: undefined; readonly value: string };

const HASH = 35;
/** `#` and the longest name of a used tag: longer names are not searched for a colon. */
const MAX_TAG_CHARS = 32;

/**
 * Calls `visit` for each URI and for each tag in `tags`, in order. Other tags, comments and empty lines are skipped
 * before any part of them is copied. Time is linear in the length of the text.
 * @throws PlaylistError when a line or their number exceeds its limit
 */
export function forEachHlsLine(text: string, tags: ReadonlySet<string>, visit: (line: HlsLine) => void): void {
  let lines = 0;
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    const from = skipSpace(text, start, end);
    start = end + 1;
    if (from === end) continue;
    if (++lines > MAX_LINES) throw new PlaylistError('The playlist has too many lines');

    const isTag = text.charCodeAt(from) === HASH;
    if (isTag && !text.startsWith('EXT', from + 1)) continue;
    if (end - from > MAX_LINE_CHARS) throw new PlaylistError('A line of the playlist is too long');
    if (!isTag) {
      visit({ value: text.slice(from, end).trim() });
      continue;
    }
    const head = text.slice(from + 1, Math.min(end, from + MAX_TAG_CHARS));
    const colon = head.indexOf(':');
    const tag = (colon === -1 ? head : head.slice(0, colon)).trim();
    if (tags.has(tag)) visit({ tag, value: colon === -1 ? '' : text.slice(from + colon + 2, end).trim() });
  }
}

/** The offset of the first character after white space. A byte order mark counts as such. */
function skipSpace(text: string, start: number, end: number): number {
  let at = start;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x20 && code !== 0xfeff) break;
  }
  return at;
}

/**
 * Parses an attribute list (RFC 8216 §4.2) in one pass. Quotes and the space around names and values are removed; of a
 * repeated attribute, the first counts.
 * @throws PlaylistError above MAX_ATTRIBUTES
 */
export function parseAttributeList(list: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  let count = 0;
  for (let at = 0; at < list.length; ) {
    if (++count > MAX_ATTRIBUTES) throw new PlaylistError('A tag has too many attributes');
    const equals = list.indexOf('=', at);
    if (equals === -1) break;
    const name = list.slice(at, equals).trim();
    const { value, end } = readValue(list, equals + 1);
    if (!attributes.has(name)) attributes.set(name, value);
    at = end + 1;
  }
  return attributes;
}

/** The value at an offset, and the offset of the comma after it, or of the end of the list. */
function readValue(list: string, from: number): { readonly value: string; readonly end: number } {
  let start = from;
  while (list[start] === ' ' || list[start] === '\t') start++;
  const quote = list[start];
  const isQuoted = quote === '"' || quote === "'";
  const closing = isQuoted ? list.indexOf(quote, start + 1) : -1;
  const comma = list.indexOf(',', Math.max(closing, start));
  const end = comma === -1 ? list.length : comma;
  return { value: closing !== -1 ? list.slice(start + 1, closing) : list.slice(start, end).trim(), end };
}

/** The variables of one playlist (draft-pantos-hls-rfc8216bis §4.3). Values do not refer to other variables. */
interface HlsVariables {
  /** @param attributes of EXT-X-DEFINE; only NAME and VALUE are supported */
  define(attributes: ReadonlyMap<string, string>): void;
  /** The line with the values of its variables. @throws PlaylistError for an undefined variable, and beyond the limits */
  substitute<T extends HlsLine>(line: T): T;
}

export function createHlsVariables(): HlsVariables {
  const values = new Map<string, string>();
  let substitutedChars = 0;

  const requireValue = (name: string): string => {
    const value = values.get(name);
    if (value === undefined) throw new PlaylistError('Undefined variable in playlist');
    return value;
  };

  return {
    define(attributes) {
      const name = attributes.get('NAME');
      if (!name) return;
      values.set(name, attributes.get('VALUE') ?? '');
      if (values.size > MAX_VARIABLES) throw new PlaylistError('The playlist has too many variables');
    },
    substitute(line) {
      if (values.size === 0 || !line.value.includes('{$')) return line;
      let value = '';
      let at = 0;
      for (let open = line.value.indexOf('{$'); open !== -1; open = line.value.indexOf('{$', at)) {
        const close = line.value.indexOf('}', open);
        if (close === -1) break;
        value += line.value.slice(at, open) + requireValue(line.value.slice(open + 2, close));
        if (value.length > MAX_LINE_CHARS) throw new PlaylistError('A line of the playlist is too long');
        at = close + 1;
      }
      value += line.value.slice(at);
      substitutedChars += value.length;
      if (substitutedChars > MAX_SUBSTITUTED_CHARS) throw new PlaylistError('The playlist is too large');
      return { ...line, value };
    },
  };
}
