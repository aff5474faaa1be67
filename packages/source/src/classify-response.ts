import { COMPRESSED, UnsupportedRendition, UpstreamError } from './errors.ts';
import { parseContentRange, parseLength, parseUnsatisfiedRange } from './request-headers.ts';

/** What is known of the entity behind a URL. It must not change while it is being read. */
export interface Entity {
  /** Bytes. */
  readonly size: number | undefined;
  /** Strong ETag, quotes included. */
  readonly etag: string | undefined;
  readonly lastModified: string | undefined;
  /** Servers of the source name it by validators of their own, which tell nothing then. @default false */
  readonly hasReplicas?: true;
}

export const unknownEntity: Entity = { size: undefined, etag: undefined, lastModified: undefined };

/** A byte range to request: offsets, both included. Without `last`: the whole entity, with no Range header. */
export interface RequestedRange {
  readonly first: number;
  readonly last: number | undefined;
  /** Whether the reader compares bytes that are sent again with those received before. @default false */
  readonly isCompared?: boolean;
}

/** What a response means for the request. */
export type ResponseOutcome =
  /** A body: skip `skip` bytes before the requested offset, then read `length` (undefined: to the end). */
  | { readonly kind: 'bytes'; readonly skip: number; readonly length: number | undefined; readonly entity: Entity }
  /** The URL may be invalid. `isGone`: the source does not know it; `isForbidden`: the source may serve it later. */
  | { readonly kind: 'expired'; readonly isGone: boolean; readonly isForbidden: boolean }
  /** The source does not send this range; it may send a smaller one. */
  | { readonly kind: 'refused'; readonly error: UpstreamError }
  /** A transient failure: send the request again after a delay. */
  | {
      readonly kind: 'retry';
      readonly error: UpstreamError;
      readonly isOverload?: boolean;
      readonly retryAfter?: string | undefined;
    }
  /** It has the size of the one read before and another validator: it may come from another server. */
  | { readonly kind: 'doubtful'; readonly error: UpstreamError }
  /** A range of an entity whose size the source does not tell: it may tell that of all of it. */
  | { readonly kind: 'unsized'; readonly error: UpstreamError }
  /** The entity differs from the one read before. */
  | { readonly kind: 'changed'; readonly error: UpstreamError }
  | { readonly kind: 'unusable'; readonly error: UpstreamError | UnsupportedRendition };

/** The source refuses the requested range; another range of the entity may exist. */
export class RangeRefused extends UpstreamError {}

export interface ResponseHead {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

const EXPIRED_STATUSES = new Set([401, 403, 404, 410]);
const OVERLOAD_STATUSES = new Set([408, 425, 429]);

/** Classifies a response by its head, checked against the request and against what is known of the entity. */
export function classifyResponse(head: ResponseHead, requested: RequestedRange, known: Entity): ResponseOutcome {
  const { status, headers } = head;
  if (status === 206 || status === 200) {
    const coding = headers['content-encoding']?.trim().toLowerCase();
    // Offsets into an encoded representation are not offsets into the file (RFC 9110 §8.4, §14).
    if (coding && coding !== 'identity') return { kind: 'unusable', error: new UnsupportedRendition(COMPRESSED) };
    return status === 206 ? classifyPartial(headers, requested, known) : classifyFull(headers, requested, known);
  }
  if (EXPIRED_STATUSES.has(status))
    return { kind: 'expired', isGone: status === 404 || status === 410, isForbidden: status === 403 };
  if (status === 416) return refused(parseUnsatisfiedRange(headers['content-range']), known);
  const reason = `Upstream returned ${status}`;
  if (status >= 500 || OVERLOAD_STATUSES.has(status))
    return { ...retry(reason), isOverload: true, retryAfter: headers['retry-after'] };
  return status >= 400 ? refused(undefined, known) : unusable(reason);
}

/** 206 (RFC 9110 §15.3.7). */
function classifyPartial(headers: ResponseHead['headers'], requested: RequestedRange, known: Entity): ResponseOutcome {
  const range = parseContentRange(headers['content-range']);
  if (!range) return retry('206 without a valid Content-Range');
  if (range.first !== requested.first || range.last > (requested.last ?? Number.POSITIVE_INFINITY))
    return retry('206 with a range that was not requested');
  const length = range.last - range.first + 1;
  const contentLength = parseLength(headers['content-length']);
  if (contentLength !== undefined && contentLength !== length) return retry('Content-Length contradicts Content-Range');
  const entity = mergeEntity(known, entityOf(headers, range.total));
  if (typeof entity === 'string') return { kind: entity, error: entityChanged() };
  if (entity.size === undefined) return { kind: 'unsized', error: new UpstreamError('206 without a total size') };
  return { kind: 'bytes', skip: 0, length, entity };
}

/** 200: the whole entity, whatever was requested. */
function classifyFull(
  headers: ResponseHead['headers'],
  { first, last, isCompared }: RequestedRange,
  known: Entity,
): ResponseOutcome {
  const entity = mergeEntity(known, entityOf(headers, parseLength(headers['content-length'])));
  if (typeof entity === 'string') return { kind: entity, error: entityChanged() };
  // Skipping bytes that were sent before is only safe when they are known to be the same.
  if (first > 0 && known !== unknownEntity && !hasValidator(known) && !isCompared)
    return unusable('200 without a validator in response to a range request');
  const end = Math.min(last ?? Number.POSITIVE_INFINITY, (entity.size ?? Number.POSITIVE_INFINITY) - 1);
  if (end < first - 1) return refused(entity.size, known);
  return { kind: 'bytes', skip: first, length: Number.isFinite(end) ? end - first + 1 : undefined, entity };
}

const retry = (reason: string) => ({ kind: 'retry', error: new UpstreamError(reason) }) as const;
const unusable = (reason: string) => ({ kind: 'unusable', error: new UpstreamError(reason) }) as const;

/** @param total bytes of the entity, as the source says with its refusal */
const refused = (total: number | undefined, { size }: Entity): ResponseOutcome => ({
  kind: 'refused',
  error:
    total !== undefined && size !== undefined && total !== size
      ? entityChanged()
      : new RangeRefused('Upstream refuses the range'),
});

/** The entity is not the one whose first bytes were read: joining both would corrupt the stream. */
export const entityChanged = (): UpstreamError => new UpstreamError('Upstream entity has changed');

/** Whether a change of the entity would be noticed. */
export const hasValidator = ({ size, etag, lastModified }: Entity): boolean =>
  (size ?? etag ?? lastModified) !== undefined;

/** Combines both, unless they contradict each other. A missing value is not a contradiction. */
function mergeEntity(known: Entity, found: Entity): Entity | 'changed' | 'doubtful' {
  const differs = (key: keyof Entity) =>
    known[key] !== undefined && found[key] !== undefined && known[key] !== found[key];
  if (differs('size')) return 'changed';
  if (known.hasReplicas) return known;
  const contradiction = known.size !== undefined && found.size !== undefined ? 'doubtful' : 'changed';
  if (differs('etag')) return contradiction;
  // Replicas of one file often differ in Last-Modified: a strong ETag that agrees takes precedence.
  const isSameEtag = known.etag !== undefined && known.etag === found.etag;
  if (!isSameEtag && differs('lastModified')) return contradiction;
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
