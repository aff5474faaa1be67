import { createCache } from '@reelay/concurrency';
import { discardResponse } from '@reelay/guarded-fetch';
import { offsetAfterFirstMinute } from '@reelay/seekable-media/timeline';
import { Attempts } from './attempts.ts';
import { EgressRefused, UpstreamError, UrlExpired, withoutFrames } from './errors.ts';
import { probeLimits } from './limits.ts';
import { type Name, nameOf } from './names.ts';
import type { ReadAheadBudget } from './read-ahead.ts';
import { firstBytes } from './read-ahead.ts';
import type { SourceTrack } from './track.ts';
import {
  fixedTarget,
  type Location,
  RangeRefused,
  type UpstreamRequestDependencies,
  type UpstreamTarget,
} from './upstream-request.ts';

const PROBE_BYTES = 1024;
const MAX_CACHED_URLS = 10_000;
/** Results are kept until the URL expires, at most for the lifetime of YouTube's URLs. */
const MAX_AGE_MS = 6 * 3_600_000;
const DEFAULT_LIFETIME_SECONDS = 3_600;

/** What a probe needs besides the request of the file. */
export interface ProbeRequest extends UpstreamRequestDependencies {
  /** The target of the file or segment: its URL is probed, and renewed when it is refused. */
  readonly target: Pick<UpstreamTarget, 'locate' | 'renew'>;
  readonly offset: number;
  readonly readAheadBudget: ReadAheadBudget;
  readonly signal: AbortSignal;
}

interface ProbeResult {
  /** Absent: the bytes were served. */
  readonly refusal: Error | undefined;
}

/**
 * Checks whether a source serves media past the first minute. Some serve only so much to clients that they do not trust
 * (YouTube without a PO token): without the check a stream would be answered with 200, and break after a minute.
 */
export class AvailabilityProbes {
  readonly isProbed: (url: string) => boolean;
  readonly #now: () => number;
  readonly #results;

  /**
   * @param isProbed whether the host of a URL is one that is known to stop
   * @param now epoch milliseconds
   */
  constructor(isProbed: (url: string) => boolean, now: () => number) {
    this.isProbed = isProbed;
    this.#now = now;
    this.#results = createCache<Name, ProbeResult>({ maxEntries: MAX_CACHED_URLS, maxAgeMs: MAX_AGE_MS, now });
  }

  /**
   * Reads some bytes at an offset. When they are refused, resolves again and reads once more. Each URL is probed once in
   * its lifetime. A source that reports overload is left to the reader and its retries.
   * @throws UrlExpired, UpstreamError when the fresh URL is refused too
   */
  async check(request: ProbeRequest): Promise<void> {
    const { target, signal, readAheadBudget, log } = request;
    // No memory left for reading ahead: the stream starts without the check.
    if (!readAheadBudget.tryReserve(PROBE_BYTES)) return;
    try {
      const location = await target.locate(signal);
      const refusal = await this.#probe(location, request);
      if (!refusal) return;
      log.info('Source refuses media past the first minute; resolving again', { reason: refusal.message });
      await target.renew(location, refusal instanceof UrlExpired && refusal.gone, signal);
      const again = await this.#probe(await target.locate(signal), request);
      if (!again) return;
      log.warn('Source refuses media past the first minute', { reason: again.message });
      throw again;
    } finally {
      readAheadBudget.release(PROBE_BYTES);
    }
  }

  /** Returns why the bytes are refused; undefined when they are served, or when that cannot be told. */
  async #probe(location: Location, request: ProbeRequest): Promise<Error | undefined> {
    const { headers, cookies, egress } = location.track;
    const id = nameOf([{ track: { url: location.url, headers, cookies, egress } }], 'probe');
    const known = this.#results.get(id);
    if (known) return known.refusal;
    const outcome = await readBytes(location, request);
    if (outcome === 'unknown') return undefined;
    const expiresAt = (location.track.urlExpiresAt ?? this.#now() / 1000 + DEFAULT_LIFETIME_SECONDS) * 1000;
    const refusal = outcome === 'served' ? undefined : withoutFrames(outcome);
    return this.#results.set(id, { refusal }, expiresAt).refusal;
  }
}

/** Where the probe of a track reads; undefined where nothing shows that the track is longer than what is always served. */
export const probeOffset = (
  { durationSeconds, isLive }: Pick<SourceTrack, 'durationSeconds' | 'isLive'>,
  sizeBytes: number | undefined,
): number | undefined => (isLive ? undefined : offsetAfterFirstMinute(sizeBytes, durationSeconds));

/** Returns whether bytes arrive; the refusal where the source answers so, or ends the response before its first byte. */
async function readBytes(location: Location, request: ProbeRequest): Promise<'served' | 'unknown' | Error> {
  const { limits, offset, signal } = request;
  let isOverloaded = false;
  const attempts = new Attempts({
    ...request,
    limits: probeLimits(limits),
    target: fixedTarget(location),
    onOverload: () => {
      isOverloaded = true;
    },
  });
  try {
    const response = await attempts.request({ first: offset, last: offset + PROBE_BYTES - 1 }, signal);
    try {
      if (!response.isFullResponse) await firstBytes(response.body);
      return 'served';
    } finally {
      discardResponse(response);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof EgressRefused) throw error;
    if (error instanceof UrlExpired || error instanceof RangeRefused) return error;
    return isOverloaded ? 'unknown' : new UpstreamError('Upstream stops before the end of the file', { cause: error });
  }
}
