import { createHash } from 'node:crypto';
import { createCache, createSemaphore, createSingleFlight } from '@reelay/concurrency';
import { discardResponse } from '@reelay/guarded-fetch';
import { markSegments, timeChapters } from '@reelay/seekable-media/parts/chapters';
import {
  type ClipTimes,
  endOrInfinity,
  mergeSpans,
  SEGMENT_CATEGORIES,
  type SkipCategory,
  type SkipSegment,
  selectSegments,
} from '@reelay/seekable-media/parts/skipping';
import type { Selection } from '../core/api/index.ts';
import type { Egress } from '../core/egress/index.ts';
import { InvalidParameter, UpstreamError } from '../core/errors/index.ts';
import type { Log } from '../core/log/index.ts';
import { parse, READ_SEGMENTS } from '../core/parsing/index.ts';
import { readBody } from '../core/resolve/index.ts';
import { type Resource, type State, youtubeIdOf } from '../core/state/index.ts';

/** What is requested of the segments of an item. Of a chapter, which has none of its own, nothing is marked. */
type SegmentsChoice = Pick<Selection, 'skip' | 'mark' | 'clip' | 'chapter'>;

/** An item with its segments as requested. */
interface AppliedSegments {
  /** With some segments as chapters; the same where there are none. */
  readonly resource: Resource;
  readonly hasMarks: boolean;
  /** Without some segments. Absent: the whole. */
  readonly clip: ClipTimes | undefined;
}

/** What viewers have reported of videos, by a service that the operator names. */
export interface SkipSegments {
  /** All segments of an item; none without a service. @throws UpstreamError when it fails */
  list(resource: Resource): Promise<readonly SkipSegment[]>;
  /** @throws InvalidParameter without a service where one is needed, UpstreamError when it fails */
  apply(resource: Resource, choice: SegmentsChoice): Promise<AppliedSegments>;
}

export interface SkipSegmentsOptions {
  readonly state: Pick<State, 'getAttachment' | 'putAttachment'>;
  /** Base URL of the service. Absent: none. */
  readonly sponsorblockUrl?: string;
  readonly request?: Egress['request'];
  readonly log: Log;
  /** @default 5000 */
  readonly timeoutMs?: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

/** Requests at once, of all clients. */
const MAX_AT_ONCE = 8;
const TIMEOUT_MS = 5000;
/** A prefix has the segments of some hundred videos. */
const MAX_BYTES = 1024 * 1024;
const MAX_CACHED_SEGMENTS = 50_000;
/** Until a service that has failed is asked again. */
const FAILED_MS = 15_000;
const HOUR_MS = 60 * 60_000;
const WHOLE: ClipTimes = { startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY };

/**
 * Segments by the interface of SponsorBlock. All categories are read at once, so that a video is asked for once. Until the end
 * of the hour all hosts have the segments that the first of them has read: ranges of one file may come from several.
 */
export function createSkipSegments(options: SkipSegmentsOptions): SkipSegments {
  const { sponsorblockUrl, request, state, log, timeoutMs = TIMEOUT_MS, now = Date.now } = options;
  const known = createCache<string, readonly SkipSegment[] | UpstreamError>({
    maxEntries: 2000,
    maxAgeMs: HOUR_MS,
    maxWeight: MAX_CACHED_SEGMENTS,
    weightOf: (value) => (value instanceof UpstreamError ? 0 : value.length),
  });
  const flights = createSingleFlight<readonly SkipSegment[]>();
  const permits = createSemaphore({ permits: MAX_AT_ONCE });

  const read = async (base: string, send: Egress['request'], videoId: string, signal: AbortSignal) => {
    const { release } = await permits.acquire('', signal);
    try {
      const response = await send(urlOf(base, videoId), { signal, maxRedirects: 2 });
      const { status } = response;
      if (status !== 200) discardResponse(response);
      if (status === 404) return [];
      if (status !== 200) throw new UpstreamError(`SponsorBlock returned ${status}`);
      const bytes = await readBody(response, MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) throw new UpstreamError('The answer of SponsorBlock is too long');
      return await parse(READ_SEGMENTS, { bytes, videoId }, { signal });
    } finally {
      release();
    }
  };

  const readTwice = async (base: string, send: Egress['request'], videoId: string): Promise<readonly SkipSegment[]> => {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      // A dropped connection is no failure of the service.
      return await read(base, send, videoId, signal).catch(() => read(base, send, videoId, signal));
    } catch (cause) {
      log.warn('Reading SponsorBlock segments failed', { error: cause });
      // Whatever it is, the fault is not the request's.
      throw new UpstreamError('Reading SponsorBlock segments failed', { cause });
    }
  };

  /** Those of all categories; none on sites that the service does not know. */
  const find = async (resource: Resource): Promise<readonly SkipSegment[]> => {
    if (!sponsorblockUrl || !request) throw new InvalidParameter('SponsorBlock is not configured on this instance.');
    const videoId = youtubeIdOf(resource);
    if (videoId === undefined) return [];
    const name = `segments-${Math.floor(now() / HOUR_MS)}` as const;
    const key = `${resource.id} ${name}`;
    const load = async (): Promise<readonly SkipSegment[]> => {
      const stored = await state.getAttachment(resource.id, name);
      if (stored) return JSON.parse(String(stored));
      const segments = await readTwice(sponsorblockUrl, request, videoId).catch((error: UpstreamError) => {
        known.set(key, error, Date.now() + FAILED_MS);
        throw error;
      });
      const bytes = Buffer.from(JSON.stringify(segments));
      return JSON.parse(String(await state.putAttachment(resource.id, name, bytes)));
    };
    const cached = known.get(key);
    if (cached instanceof UpstreamError) throw cached;
    const all = cached ?? (await flights(key, load));
    known.set(key, all);
    return selectSegments(all, resource.durationSeconds);
  };

  return {
    list: async (resource) => (sponsorblockUrl ? find(resource) : []),
    async apply(resource, { skip = [], mark = [], clip, chapter }) {
      const marks = chapter === undefined ? mark.filter((category) => !skip.includes(category)) : [];
      const found = skip.length + marks.length > 0 ? await find(resource) : [];
      const { details, durationSeconds, title } = resource;
      const of = (categories: readonly SkipCategory[]) =>
        found
          .filter(({ category }) => categories.includes(category))
          .map((each) => ({ ...each, endSeconds: endOrInfinity(each.endSeconds, durationSeconds) }));
      const [skipped, shown] = [mergeSpans(of(skip)), of(marks)];
      const part = skipped.length > 0 ? { ...(clip ?? WHOLE), skipped } : clip;
      if (shown.length === 0) return { resource, hasMarks: false, clip: part };
      const own = timeChapters(details?.chapters ?? [], durationSeconds);
      const chapters = markSegments(own.length > 0 ? own : [{ ...WHOLE, title: title ?? 'Video' }], shown);
      return { resource: { ...resource, details: { ...details, chapters } }, hasMarks: true, clip: part };
    },
  };
}

/** Only a prefix of a digest of the id is sent, which many videos share. */
function urlOf(base: string, videoId: string): string {
  const prefix = createHash('sha256').update(videoId).digest('hex').slice(0, 4);
  const query = new URLSearchParams({ categories: JSON.stringify(SEGMENT_CATEGORIES), actionTypes: '["skip"]' });
  return `${base}/api/skipSegments/${prefix}?${query}`;
}
