import { createHash } from 'node:crypto';
import { createCache, createSemaphore, createSingleFlight } from '../../core/concurrency/index.ts';
import type { Egress } from '../../core/egress/index.ts';
import { InvalidParameter, UpstreamError } from '../../core/errors/index.ts';
import type { Log } from '../../core/log/index.ts';
import { markSegments, timeChapters } from '../../core/media/chapters/index.ts';
import {
  type ClipTimes,
  mergeSpans,
  SEGMENT_CATEGORIES,
  type Segment,
  type SegmentCategory,
  selectSegments,
} from '../../core/media/skipping/index.ts';
import { parse, READ_SEGMENTS } from '../../core/parsing/index.ts';
import { type Resource, youtubeIdOf } from '../../core/state/index.ts';

/** What viewers have reported of videos, by a service that the operator names. */
export interface Segments {
  /** All segments of an item; none without a service. @throws UpstreamError when it fails */
  list(resource: Resource): Promise<readonly Segment[]>;
  /**
   * The segments of an item; none on sites that the service does not know.
   * @throws InvalidParameter without a service, UpstreamError when it fails
   */
  find(resource: Resource, categories: readonly SegmentCategory[]): Promise<readonly Segment[]>;
  /** The times of a clip without some segments. @throws as `find` */
  skip(resource: Resource, categories: readonly SegmentCategory[], clip?: ClipTimes): Promise<ClipTimes | undefined>;
  /**
   * The item with some segments as chapters; itself where there are none. @throws as `find`
   * @param skipped categories that are left out of the file
   */
  mark(
    resource: Resource,
    categories: readonly SegmentCategory[],
    skipped?: readonly SegmentCategory[],
  ): Promise<Resource>;
}

export interface SegmentsOptions {
  /** Base URL of the service. Absent: none. */
  readonly sponsorblockUrl?: string;
  readonly request?: Egress['request'];
  readonly log: Log;
  /** @default 5000 */
  readonly timeoutMs?: number;
}

/** Requests at once, of all clients. */
const MAX_AT_ONCE = 8;
const TIMEOUT_MS = 5000;
/** A prefix has the segments of some hundred videos. */
const MAX_BYTES = 1024 * 1024;
const MAX_CACHED_SEGMENTS = 50_000;
/** Until a service that has failed is asked again. */
const FAILED_MS = 15_000;
const WHOLE: ClipTimes = { startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY };

/** Segments by the interface of SponsorBlock. All categories are read at once, so that a video is asked for once. */
export function createSegments({ sponsorblockUrl, request, log, timeoutMs = TIMEOUT_MS }: SegmentsOptions): Segments {
  const known = createCache<string, readonly Segment[] | UpstreamError>({
    ...{ maxEntries: 2000, maxAgeMs: 60 * 60_000, maxWeight: MAX_CACHED_SEGMENTS },
    weightOf: (value) => (value instanceof UpstreamError ? 0 : value.length),
  });
  const flights = createSingleFlight<readonly Segment[]>();
  const permits = createSemaphore({ permits: MAX_AT_ONCE });

  const read = async (base: string, send: Egress['request'], videoId: string, signal: AbortSignal) => {
    const { release } = await permits.acquire('', signal);
    try {
      const { status, body } = await send(urlOf(base, videoId), { signal, maxRedirects: 2 });
      const chunks: Buffer[] = [];
      let bytes = 0;
      try {
        if (status === 404) return [];
        if (status !== 200) throw new UpstreamError(`The service of segments answered ${status}`);
        for await (const chunk of body as AsyncIterable<Buffer>) {
          bytes += chunk.length;
          if (bytes > MAX_BYTES) throw new UpstreamError('The answer of the service of segments is too long');
          chunks.push(chunk);
        }
      } finally {
        body.destroy();
      }
      return await parse(READ_SEGMENTS, { bytes: Buffer.concat(chunks), videoId }, { signal });
    } finally {
      release();
    }
  };

  const load = async (base: string, send: Egress['request'], videoId: string): Promise<readonly Segment[]> => {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      // A dropped connection is no failure of the service.
      const segments = await read(base, send, videoId, signal).catch(() => read(base, send, videoId, signal));
      known.set(videoId, segments);
      return segments;
    } catch (cause) {
      log.warn('Segments could not be read', { error: cause });
      // Whatever it is, the fault is not the request's.
      const error = new UpstreamError('Segments could not be read', { cause });
      known.set(videoId, error, Date.now() + FAILED_MS);
      throw error;
    }
  };

  const find: Segments['find'] = async (resource, categories) => {
    if (!sponsorblockUrl || !request) throw new InvalidParameter('This instance knows no segments of videos.');
    const videoId = youtubeIdOf(resource);
    if (videoId === undefined) return [];
    const cached = known.get(videoId);
    if (cached instanceof UpstreamError) throw cached;
    const all = cached ?? (await flights(videoId, () => load(sponsorblockUrl, request, videoId)));
    return selectSegments(all, categories, resource.durationSeconds);
  };

  return {
    list: async (resource) => (sponsorblockUrl ? find(resource, SEGMENT_CATEGORIES) : []),
    find,
    async skip(resource, categories, clip) {
      const segments = await find(resource, categories);
      return segments.length === 0 ? clip : { ...(clip ?? WHOLE), skipped: mergeSpans(segments) };
    },
    async mark(resource, categories, skipped = []) {
      const segments = await find(resource, categories);
      const shown = segments.filter(({ category }) => !skipped.includes(category));
      if (shown.length === 0) return resource;
      const { details, durationSeconds, title } = resource;
      const own = timeChapters(details?.chapters ?? [], durationSeconds);
      const chapters = markSegments(own.length > 0 ? own : [{ ...WHOLE, title: title ?? 'Video' }], shown);
      return { ...resource, details: { ...details, chapters } };
    },
  };
}

/** Only a prefix of a digest of the id is sent, which many videos share. */
function urlOf(base: string, videoId: string): string {
  const prefix = createHash('sha256').update(videoId).digest('hex').slice(0, 4);
  const query = new URLSearchParams({ categories: JSON.stringify(SEGMENT_CATEGORIES), actionTypes: '["skip"]' });
  return `${base}/api/skipSegments/${prefix}?${query}`;
}
