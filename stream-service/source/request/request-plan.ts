import { formatRange, requestHeaders } from '../../../core/http/index.ts';
import type { Track } from '../../../core/state/index.ts';
import type { ChunkSizer } from './chunk-sizer.ts';
import type { RequestedRange } from './classify-response.ts';

/** Whether a source refuses requests without a Range header. Shared by all files of one source, e.g. HLS segments. */
export interface RangeRequirement {
  isRequired: boolean;
  /** Sizes the ranges: some of these sources refuse open-ended ranges, too. */
  readonly chunks: ChunkSizer;
}

/** How the entity is requested. */
export interface RangePolicy {
  /** Sizes the ranges of an entity that is read in ranges; absent: one request for everything needed. */
  readonly chunks?: ChunkSizer;
  /** Absent: the entity is always requested by ranges. */
  readonly rangeRequirement?: RangeRequirement;
}

/** The range of the next request. */
export interface RangePlan {
  readonly range: RequestedRange;
  /** Sized the range, and adapts to the response. */
  readonly chunks: ChunkSizer | undefined;
}

/**
 * Plans the next request for a range.
 * @param retryWithRange the source refused the same request without a Range header. The range is small then: a source
 *   that refuses it refuses any.
 */
export function planRange(
  requested: RequestedRange,
  { chunks: ownChunks, rangeRequirement }: RangePolicy,
  retryWithRange: boolean,
): RangePlan {
  const chunks = ownChunks ?? (retryWithRange || rangeRequirement?.isRequired ? rangeRequirement?.chunks : undefined);
  const { first, last } = requested;
  // A whole entity that is read in ranges has no known end yet: its size decides.
  if (!chunks || (last === undefined && ownChunks)) return { range: requested, chunks };
  const end = first + (retryWithRange ? chunks.next() : chunks.limit()) - 1;
  return { range: { ...requested, last: Math.min(last ?? end, end) }, chunks };
}

/** Another range to try after the source has refused a request or its URL. */
export type Recovery = 'smaller-range' | 'with-range';

/** Statuses that a missing Range header cannot explain: no permission, or nothing there. */
const UNRELATED_TO_RANGE = new Set([401, 404, 410]);

/**
 * @param status of the response
 * @returns undefined when no other range may help
 */
export function planRecovery(
  { range, chunks }: RangePlan,
  { rangeRequirement }: RangePolicy,
  retryWithRange: boolean,
  status: number,
): Recovery | undefined {
  const { first, last } = range;
  if (last !== undefined && chunks?.refused(last - first + 1)) return 'smaller-range';
  const mayWantRange = !retryWithRange && rangeRequirement && last === undefined && !UNRELATED_TO_RANGE.has(status);
  return mayWantRange ? 'with-range' : undefined;
}

/** Headers of a track that the reader of ranges sets itself. */
const OWN_HEADERS = /^(if-)?range$|^accept-encoding$/i;

/**
 * The headers of a request, by the URL of each redirect hop. The headers of the track are also sent to segments on other
 * hosts than the playlist, as players do: the source itself named them.
 */
export function planHeaders(
  url: string,
  { headers, cookies }: Pick<Track, 'headers' | 'cookies'>,
  { first, last }: RequestedRange,
): (hop: URL) => Record<string, string> {
  const trackHeaders = Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.test(name)));
  const headersFor = requestHeaders({ url, headers: trackHeaders, cookies });
  const range: Record<string, string> = last === undefined ? {} : { range: formatRange({ first, last }) };
  return (hop) => ({ ...headersFor(hop), 'accept-encoding': 'identity', ...range });
}
