import { randomUUID } from 'node:crypto';
import type { Log } from '../../core/log/index.ts';
import type { Resolver } from '../../core/resolve/index.ts';
import type { YtDlp } from '../../core/tools/index.ts';
import { createTryLayer } from './try-layer.ts';
import type { CanaryVerdict } from './types.ts';

/** Sent to a version of the resolver before the alias moves to it. */
export interface CheckEvent {
  readonly kind: 'check';
  /** Links that it must resolve. @default none */
  readonly links?: readonly string[];
}

export interface CheckResolverOptions {
  /** The yt-dlp of the resolver, with the version that it reports; undefined when there is none. */
  readonly find: () => Promise<YtDlp | undefined>;
  readonly resolver: Pick<Resolver, 'warm' | 'resolve'>;
  readonly log: Log;
}

/** Below the timeout of the resolver. */
const RESOLVE_TIMEOUT_MS = 20_000;

/** Whether this version of the resolver works: its worker starts, and the links of the event resolve. */
export const createCheckResolver =
  ({ find, resolver, log }: CheckResolverOptions) =>
  ({ links = [] }: CheckEvent): Promise<CanaryVerdict> => {
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
