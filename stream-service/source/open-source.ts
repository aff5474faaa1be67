import type { Egress } from '../../core/egress/index.ts';
import { type Log, silentLog } from '../../core/log/index.ts';
import type { Resource } from '../../core/state/index.ts';
import { createEventLoopLoad, createReadAheadBudget } from './buffer/index.ts';
import { openFile } from './file/index.ts';
import { defaultLimits, type SourceLimits, type UpstreamRequestDependencies } from './request/index.ts';
import { openSegments } from './segmented/index.ts';
import type { OpenSource } from './source.ts';
import { asStreamProblem, createTrackLocator } from './track-locator.ts';

export interface OpenSourceOptions {
  readonly egress: Pick<Egress, 'request'>;
  /** Resolves a resource again: one resolve for everyone who waits (`Extraction.refresh`). */
  readonly refresh: (resource: Resource, signal?: AbortSignal) => Promise<Resource>;
  readonly limits?: Partial<SourceLimits>;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
  readonly log?: Log;
}

/** How sources are opened here, all through one egress and within the same limits. */
export function createOpenSource(options: OpenSourceOptions): OpenSource {
  const { egress, refresh, now = Date.now, log = silentLog } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const pool = createReadAheadBudget(limits.aheadBytesInAll);
  const gauge = createEventLoopLoad();

  return async (resource, track, signal = new AbortController().signal, first = 0) => {
    const dependencies: UpstreamRequestDependencies = { egress, identity: resource.egress, limits, now, log };
    const common = { resource, track, refresh, renewals: limits.renewals, now, pool, gauge };
    try {
      if (track.delivery !== 'direct') return await openSegments({ ...dependencies, ...common, signal });
      const places = createTrackLocator({ ...common, load: async () => undefined });
      return await openFile({ ...dependencies, places, pool, gauge, first, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw asStreamProblem(error);
    }
  };
}
