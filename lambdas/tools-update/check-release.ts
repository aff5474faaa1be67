import { randomUUID } from 'node:crypto';
import type { KnownSites, SmokeTestResult, YtDlp } from '@reelay/yt-dlp-worker';
import { describeError, type Log } from '../../core/log/index.ts';
import type { Resolver } from '../../core/resolve/index.ts';

/** The result of a trial. */
export type Verdict =
  | { readonly ok: true; readonly version: string; readonly sites?: KnownSites | undefined }
  | { readonly ok: false; readonly reason: string };

interface TryLayerOptions {
  /** The yt-dlp of the layer, with the version that it reports; undefined when the layer has none. */
  readonly find: () => Promise<YtDlp | undefined>;
  /** @returns how it works, if that is known. @throws Error when it does not */
  readonly smokeTest: (ytDlp: YtDlp) => Promise<SmokeTestResult | undefined>;
  /** Whether the warm worker starts, where the smoke test says that links need processes. @default never */
  readonly startsWorker?: (ytDlp: YtDlp) => Promise<boolean>;
  readonly log: Log;
}

/** Tests the yt-dlp in the layer of this function, in the environment in which the resolver would run it. */
export const createTryLayer =
  ({ find, smokeTest, startsWorker, log }: TryLayerOptions) =>
  async (): Promise<Verdict> => {
    try {
      const ytDlp = await find();
      if (!ytDlp) return { ok: false, reason: 'the layer has no yt-dlp' };
      const { version } = ytDlp;
      const { mode, sites } = (await smokeTest(ytDlp)) ?? {};
      if (mode !== 'process-per-link') return { ok: true, version, ...(sites && { sites }) };
      // A layer records no mode: the resolver uses processes where the worker does not start.
      if (await startsWorker?.(ytDlp)) return { ok: false, reason: 'its warm worker starts, but resolves no link' };
      log.warn('yt-dlp works as one process per link only', { version });
      return { ok: true, version };
    } catch (error) {
      log.error('Smoke test of the layer failed', { error });
      return { ok: false, reason: describeError(error instanceof Error ? error.message : error).split('\n')[0] ?? '' };
    }
  };

/** Sent to a version of the resolver before the alias moves to it. */
export interface CheckEvent {
  readonly kind: 'check';
  /** Links that it must resolve. @default none */
  readonly links?: readonly string[];
}

interface CheckResolverOptions extends Pick<TryLayerOptions, 'find' | 'log'> {
  readonly resolver: Pick<Resolver, 'warm' | 'resolve'>;
}

/** Shorter than the timeout of the resolver. */
const RESOLVE_TIMEOUT_MS = 20_000;

/** Whether this version of the resolver works: its worker starts, and the links of the event resolve. */
export const createCheckResolver =
  ({ find, resolver, log }: CheckResolverOptions) =>
  ({ links = [] }: CheckEvent): Promise<Verdict> => {
    const deadline = Date.now() + RESOLVE_TIMEOUT_MS;
    const resolve = async (link: string) => {
      const url = new URL(link);
      // The table may hold a resource of the former release: a fragment, which is never sent to sites, makes the link
      // new.
      url.hash = randomUUID();
      await resolver.resolve(url.href, { deadline }).catch((error: unknown) => {
        log.error('Canary link failed', { error });
        throw new Error(`a canary link of ${url.host} does not resolve`);
      });
    };
    const smokeTest = async () => {
      await resolver.warm();
      await Promise.all(links.map(resolve));
      return undefined;
    };
    return createTryLayer({ find, smokeTest, log })();
  };
