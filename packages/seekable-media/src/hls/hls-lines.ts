import { MAX_ATTRIBUTES, MAX_LINE_CHARS, MAX_LINES, PlaylistError } from './hls-text.ts';

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
