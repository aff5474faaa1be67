import { parseContentRange, parseUnsatisfiedRange } from '../../../core/http/index.ts';

/** What is known of the entity behind a URL. It must not change while it is read. */
export interface Entity {
  /** Bytes in all. */
  readonly size: number | undefined;
  /** Strong ETag, quotes included. */
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
}

export const unknownEntity: Entity = { size: undefined, etag: undefined, lastModified: undefined };

/** What was asked for. Offsets in bytes, both ends included; without `last` all of it, with no Range header. */
export interface RequestedRange {
  readonly first: number;
  readonly last: number | undefined;
  /** What is sent again will be compared with what came before. @default false */
  readonly isCompared?: boolean;
}

/** What to make of an answer. */
export type ResponseOutcome =
  /** Bytes from `first` on: `skip` of them lie before what was wanted, then `length` follow (undefined: to its end). */
  | { readonly kind: 'bytes'; readonly skip: number; readonly length: number | undefined; readonly entity: Entity }
  /** Not with this URL: resolve again. `gone` says which it is when that does not help. */
  | { readonly kind: 'expired'; readonly gone: boolean }
  /** The source does not give this range; perhaps a smaller one. */
  | { readonly kind: 'refused'; readonly total: number | undefined }
  /** Once more, a little later. */
  | {
      readonly kind: 'again';
      readonly reason: string;
      readonly isBusy?: boolean;
      readonly retryAfter?: string | undefined;
    }
  /** Other bytes than before: nothing of it may follow what was sent. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'unusable'; readonly reason: string };

export interface ResponseHead {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

const EXPIRED = new Set([401, 403, 404, 410]);
const BUSY = new Set([408, 425, 429]);
const again = (reason: string): ResponseOutcome => ({ kind: 'again', reason });

/** Judges the head of an answer: nothing in it is believed until it fits what was asked and what came before. */
export function classifyResponse(
  { status, headers }: ResponseHead,
  wanted: RequestedRange,
  known: Entity,
): ResponseOutcome {
  if (status === 206 || status === 200) {
    const coding = headers['content-encoding']?.trim().toLowerCase();
    // Ranges of encoded bytes are ranges of something else (RFC 9110 §8.4, §14).
    if (coding && coding !== 'identity') return { kind: 'unusable', reason: `The source encodes its bytes: ${coding}` };
    return status === 206 ? judgePart(headers, wanted, known) : judgeWhole(headers, wanted, known);
  }
  if (EXPIRED.has(status)) return { kind: 'expired', gone: status === 404 || status === 410 };
  if (status === 416) return { kind: 'refused', total: parseUnsatisfiedRange(headers['content-range']) };
  if (status >= 500 || BUSY.has(status))
    return {
      kind: 'again',
      reason: `The source answered ${status}`,
      isBusy: true,
      retryAfter: headers['retry-after'],
    };
  if (status >= 400) return { kind: 'refused', total: undefined };
  return { kind: 'unusable', reason: `The source answered ${status}` };
}

function judgePart(headers: ResponseHead['headers'], wanted: RequestedRange, known: Entity): ResponseOutcome {
  const range = parseContentRange(headers['content-range']);
  if (!range) return again('The source answered 206 without a readable Content-Range');
  if (range.first !== wanted.first || range.last > (wanted.last ?? Number.POSITIVE_INFINITY))
    return again('The source answered another range');
  const length = range.last - range.first + 1;
  const said = digits(headers['content-length']);
  if (said !== undefined && said !== length) return again('Content-Length and Content-Range disagree');
  const entity = merge(known, entityOf(headers, range.total));
  if (!entity) return { kind: 'changed' };
  return entity.size === undefined
    ? { kind: 'unusable', reason: 'The source does not say how much there is' }
    : { kind: 'bytes', skip: 0, length, entity };
}

function judgeWhole(
  headers: ResponseHead['headers'],
  { first, last, isCompared }: RequestedRange,
  known: Entity,
): ResponseOutcome {
  const entity = merge(known, entityOf(headers, digits(headers['content-length'])));
  if (!entity) return { kind: 'changed' };
  // Skipping what was sent already is only sound when it is known to be the same.
  if (first > 0 && known !== unknownEntity && !hasValidator(known) && !isCompared)
    return { kind: 'unusable', reason: 'Nothing tells whether these are the same bytes' };
  const end = Math.min(last ?? Number.POSITIVE_INFINITY, (entity.size ?? Number.POSITIVE_INFINITY) - 1);
  if (end < first - 1) return { kind: 'refused', total: entity.size };
  return { kind: 'bytes', skip: first, length: Number.isFinite(end) ? end - first + 1 : undefined, entity };
}

/** Whether it says anything by which it can be known again. */
export const hasValidator = ({ size, etag, lastModified }: Entity): boolean =>
  (size ?? etag ?? lastModified) !== undefined;

/** Both together; undefined when they contradict each other. What an answer leaves out is no contradiction. */
function merge(known: Entity, found: Entity): Entity | undefined {
  const differs = (key: keyof Entity) =>
    known[key] !== undefined && found[key] !== undefined && known[key] !== found[key];
  if (differs('size') || differs('etag')) return undefined;
  // Replicas of one file often differ in their clock: a strong ETag that agrees settles it.
  const sameTag = known.etag !== undefined && known.etag === found.etag;
  if (!sameTag && differs('lastModified')) return undefined;
  return {
    size: known.size ?? found.size,
    etag: known.etag ?? found.etag,
    lastModified: known.lastModified ?? found.lastModified,
  };
}

function entityOf(headers: ResponseHead['headers'], size: number | undefined): Entity {
  const etag = headers.etag?.trim();
  return { size, etag: etag?.startsWith('"') ? etag : undefined, lastModified: headers['last-modified']?.trim() };
}

const digits = (text: string | undefined): number | undefined =>
  text && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
