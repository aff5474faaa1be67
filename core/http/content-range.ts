import type { ByteRange } from './byte-range.ts';

/** A parsed Content-Range. `total` is the size of the whole representation in bytes; undefined for `*`. */
export interface ContentRange extends ByteRange {
  readonly total: number | undefined;
}

const SATISFIED = /^bytes[ \t]+(\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i;
const UNSATISFIED = /^bytes[ \t]+\*\/(\d{1,15})$/i;

/** The Content-Range of a 206 (`bytes 0-99/1234`); without a range, that of a 416, with an asterisk. */
export const formatContentRange = (range: ByteRange | undefined, total: number): string =>
  range ? `bytes ${range.first}-${range.last}/${total}` : `bytes */${total}`;

/** Parses the Content-Range of a 206 (RFC 9110 §14.4); undefined if it is absent, malformed or contradicts itself. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  const [, from, to, all] = SATISFIED.exec(header?.trim() ?? '') ?? [];
  if (!from || !to || !all) return undefined;
  const [first, last] = [Number(from), Number(to)];
  const total = all === '*' ? undefined : Number(all);
  return last < first || (total !== undefined && last >= total) ? undefined : { first, last, total };
}

/** Parses the Content-Range of a 416 (RFC 9110 §15.5.17): the size in bytes; undefined if it is absent or malformed. */
export function parseUnsatisfiedRange(header: string | undefined): number | undefined {
  const [, total] = UNSATISFIED.exec(header?.trim() ?? '') ?? [];
  return total === undefined ? undefined : Number(total);
}
