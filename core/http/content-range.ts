/** What a Content-Range says. Offsets in bytes, both ends included; `total` undefined when it says `*`. */
export interface ContentRange {
  readonly first: number;
  readonly last: number;
  readonly total: number | undefined;
}

const SATISFIED = /^bytes[ \t]+(\d{1,15})-(\d{1,15})\/(\d{1,15}|\*)$/i;
const UNSATISFIED = /^bytes[ \t]+\*\/(\d{1,15})$/i;

/** Reads the Content-Range of a 206 (RFC 9110 §14.4); undefined when it is absent, malformed or contradicts itself. */
export function parseContentRange(header: string | undefined): ContentRange | undefined {
  const [, from, to, all] = SATISFIED.exec(header?.trim() ?? '') ?? [];
  if (!from || !to || !all) return undefined;
  const [first, last] = [Number(from), Number(to)];
  const total = all === '*' ? undefined : Number(all);
  return last < first || (total !== undefined && last >= total) ? undefined : { first, last, total };
}

/** Bytes in all, as the Content-Range of a 416 says; undefined when it does not. */
export function unsatisfiedTotal(header: string | undefined): number | undefined {
  const [, total] = UNSATISFIED.exec(header?.trim() ?? '') ?? [];
  return total === undefined ? undefined : Number(total);
}
