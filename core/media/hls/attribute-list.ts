import { MAX_ATTRIBUTES, PlaylistError } from './hls-limits.ts';

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
    if (equals < 0) break;
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
  const end = comma < 0 ? list.length : comma;
  return { value: closing > 0 ? list.slice(start + 1, closing) : list.slice(start, end).trim(), end };
}
