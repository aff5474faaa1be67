import type { VirtualFile } from '../reading/index.ts';

/** A contiguous part of a representation. Offsets in bytes, both ends included. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** The part of a representation that a Range header selects. */
export type RangeDecision = ByteRange | 'whole' | 'unsatisfiable';

const SINGLE_RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i;

/**
 * Evaluates a Range header for a representation of `size` bytes (RFC 9110 §14.2).
 *
 * A header that is malformed, uses another unit or selects several ranges is ignored, as §14.2 allows: the client receives
 * the whole representation rather than an error.
 */
export function decideRange(header: string | undefined, size: number): RangeDecision {
  const [, from = '', to = ''] = header?.match(SINGLE_RANGE) ?? [];
  if (from === '' && to === '') return 'whole';
  return from === '' ? suffix(Number(to), size) : slice(Number(from), to === '' ? Infinity : Number(to), size);
}

function slice(first: number, last: number, size: number): RangeDecision {
  if (last < first) return 'whole'; // §14.1.1: an invalid range, not an unsatisfiable one
  if (first >= size) return 'unsatisfiable';
  return { first, last: Math.min(last, size - 1) };
}

function suffix(length: number, size: number): RangeDecision {
  if (length === 0 || size === 0) return 'unsatisfiable';
  return { first: Math.max(0, size - length), last: size - 1 };
}

/** Offsets where reading probably starts and ends, both included. `last` undefined: at the end. */
export interface PredictedRange {
  readonly first: number;
  readonly last?: number;
}

/**
 * What a Range header probably selects, for use before the size is known: everything for a suffix range, and for a header
 * that selects no single range.
 */
export function predictRange(header: string | undefined): PredictedRange {
  const [, from, to] = header?.match(SINGLE_RANGE) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (!from || !Number.isSafeInteger(first)) return { first: 0 };
  return !to || !Number.isSafeInteger(last) || last < first ? { first } : { first, last };
}

/** The Content-Range of a 206 (`bytes 0-99/1234`); without a range, that of a 416, with an asterisk. */
export const formatContentRange = (range: ByteRange | undefined, total: number): string =>
  range ? `bytes ${range.first}-${range.last}/${total}` : `bytes */${total}`;

/** Weak comparison with an If-None-Match header (RFC 9110 §13.1.2). @param tag with its quotes */
export const matchesEntityTag = (ifNoneMatch: string | undefined, tag: string): boolean =>
  (ifNoneMatch ?? '').split(',').some((known) => ['*', tag].includes(known.trim().replace(/^W\//, '')));

/** The headers of a request that decide which part of a file is sent. */
export interface ConditionalHeaders {
  readonly range?: string | undefined;
  readonly 'if-range'?: string | undefined;
  readonly 'if-none-match'?: string | undefined;
}

/** What is sent of a file: its status, and for 200 and 206 the bytes. */
export type FileAnswer =
  | { readonly status: 304 }
  | { readonly status: 416 }
  | ({ readonly status: 200 | 206 } & ByteRange);

/**
 * Decides what a request for a file is answered with (RFC 9110 §13.2.2): 304 where the client has it; its range, unless `If-Range` is of
 * another one; else all of it.
 * @param file its strong entity tag, if it has one: dates are not compared
 */
export function answerFor(
  { range, 'if-range': ifRange, 'if-none-match': ifNoneMatch }: ConditionalHeaders,
  { size, etag }: { readonly size: number; readonly etag?: string | undefined },
): FileAnswer {
  if (etag !== undefined && matchesEntityTag(ifNoneMatch, etag)) return { status: 304 };
  const decision = decideRange(ifRange === undefined || ifRange === etag ? range : undefined, size);
  if (decision === 'unsatisfiable') return { status: 416 };
  return decision === 'whole' ? { status: 200, first: 0, last: size - 1 } : { status: 206, ...decision };
}

/** The response of a server, or of a service worker, to a request for a file. What fails while it is sent fails its body. */
export function respond({ method, headers }: Pick<Request, 'method' | 'headers'>, file: VirtualFile): Response {
  if (method !== 'GET' && method !== 'HEAD')
    return new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } });
  const header = (name: string) => headers.get(name) ?? undefined;
  const { size, etag, type } = file;
  const conditions = { 'if-range': header('if-range'), 'if-none-match': header('if-none-match') };
  // RFC 9110 §14.2: a Range header has no meaning for HEAD.
  const answer = answerFor({ ...conditions, range: method === 'GET' ? header('range') : undefined }, file);
  if (answer.status === 304) return new Response(null, { status: 304, headers: { etag } });
  if (answer.status === 416)
    return new Response(null, { status: 416, headers: { 'content-range': formatContentRange(undefined, size) } });
  const { status, first, last } = answer;
  return new Response(method === 'GET' ? file.read(first, last + 1) : null, {
    status,
    headers: {
      etag,
      'content-type': type,
      'accept-ranges': 'bytes',
      'content-length': String(last + 1 - first),
      ...(status === 206 && { 'content-range': formatContentRange(answer, size) }),
    },
  });
}
