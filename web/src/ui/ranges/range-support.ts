import { type Fetch, fetchResponse } from '../../api/index.ts';
import { createSubject, type Observable } from '../../lib/index.ts';

/** Which streams support ranges, and so seeking and resuming (RFC 9110 §14.3). */
export interface RangeSupport {
  /** By URL; absent while unknown. */
  readonly known: Observable<ReadonlyMap<string, boolean>>;
  /**
   * Sends a HEAD request unless the result is known. An inconclusive response is not stored. A stream without ranges is asked again
   * for a minute: the instance may find out meanwhile how long it is.
   */
  check(url: string): Promise<void>;
}

/** The oldest entry is evicted first. */
const MAX_ENTRIES = 200;
const TIMEOUT_MS = 15_000;
/** After each response without ranges. */
const AGAIN_MS = [10_000, 20_000, 30_000];

/**
 * The contract does not say whether a stream is seekable: only Accept-Ranges of its HEAD response does.
 * @param againMs pauses before a stream without ranges is asked again
 */
export function createRangeSupport(
  fetch: Fetch = (url, init) => globalThis.fetch(url, init),
  againMs: readonly number[] = AGAIN_MS,
): RangeSupport {
  const known = createSubject<ReadonlyMap<string, boolean>>(new Map());
  const asking = new Set<string>();

  const look = async (url: string): Promise<boolean | undefined> => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { ok, headers } = await fetchResponse(fetch, url, { method: 'HEAD', cache: 'no-store', signal });
    const said = ok ? headers.get('accept-ranges') : null;
    return said === null ? undefined : /(^|,)\s*bytes\s*(,|$)/i.test(said);
  };

  const ask = async (url: string, [nextMs, ...laterMs]: readonly number[]): Promise<void> => {
    asking.add(url);
    try {
      const hasRanges = await look(url);
      if (hasRanges === undefined) return;
      known.set(new Map([...known.get(), [url, hasRanges] as const].slice(-MAX_ENTRIES)));
      if (!hasRanges && nextMs !== undefined) setTimeout(ask, nextMs, url, laterMs);
    } catch {
      // Stays unknown: playback and download report their own failures.
    } finally {
      asking.delete(url);
    }
  };

  return {
    known,
    async check(url) {
      if (!known.get().has(url) && !asking.has(url)) await ask(url, againMs);
    },
  };
}
