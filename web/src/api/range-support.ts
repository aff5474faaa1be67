import { createSubject, type Observable } from '../lib/index.ts';
import { type Fetch, fetchResponse } from './responses.ts';

/** Which streams have ranges: those can be sought in, and downloads of them resumed (RFC 9110 §14.3). */
export interface RangeSupport {
  /** By address; absent while nobody knows. */
  readonly known: Observable<ReadonlyMap<string, boolean>>;
  /** Asks a stream unless that was done before. One that does not say is asked again the next time. */
  check(url: string): Promise<void>;
}

/** Streams remembered: the oldest is forgotten first. */
const MAX_ENTRIES = 200;
const TIMEOUT_MS = 15_000;

/** Nothing in the contract tells a file from a stream that is put together while it is sent: only its HEAD does. */
export function createRangeSupport(fetch: Fetch = (url, init) => globalThis.fetch(url, init)): RangeSupport {
  const known = createSubject<ReadonlyMap<string, boolean>>(new Map());
  const asking = new Set<string>();

  const look = async (url: string): Promise<boolean | undefined> => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { ok, headers } = await fetchResponse(fetch, url, { method: 'HEAD', cache: 'no-store', signal });
    const said = ok ? headers.get('accept-ranges') : null;
    return said === null ? undefined : /(^|,)\s*bytes\s*(,|$)/i.test(said);
  };

  return {
    known,
    async check(url) {
      if (known.get().has(url) || asking.has(url)) return;
      asking.add(url);
      try {
        const hasRanges = await look(url);
        if (hasRanges === undefined) return;
        known.set(new Map([...known.get(), [url, hasRanges] as const].slice(-MAX_ENTRIES)));
      } catch {
        // It stays unknown: whoever plays or takes the stream is told what is wrong with it.
      } finally {
        asking.delete(url);
      }
    },
  };
}
