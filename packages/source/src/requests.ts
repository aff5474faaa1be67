import { AvailabilityProbes } from './availability-probe.ts';
import { defaultLimits, type SourceLimits } from './limits.ts';
import { createOwnValidators } from './own-validators.ts';
import { peekLimits } from './plan-attempt.ts';
import { createEventLoopLoad, createReadAheadBudgets } from './read-ahead-limits.ts';
import type { OpenOptions, OpenRequest } from './source.ts';
import type { SourceTrack } from './track.ts';

export interface RequestsOptions
  extends Pick<OpenRequest, 'egress'>,
    Partial<Pick<OpenRequest, 'log' | 'now' | 'parse'>> {
  /** @default `defaultLimits` */
  readonly limits?: Partial<SourceLimits> | undefined;
  /** Whether a URL is read past the first minute before its stream starts: it may stop there. @default none is */
  readonly isProbed?: (url: string) => boolean;
}

const noop = () => undefined;

/**
 * Returns what makes requests to open tracks. By default tasks are run at once in this process, and nothing is logged. All of them share one memory for reading ahead, of which one client may use half.
 */
export function createRequests(options: RequestsOptions): (track: SourceTrack, opening?: OpenOptions) => OpenRequest {
  const { isProbed = () => false, now = Date.now } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const budgetOf = createReadAheadBudgets(limits.totalReadAheadBytes);
  const probes = new AvailabilityProbes(isProbed, now);
  const shared = {
    egress: options.egress,
    parse: options.parse ?? (async (task, input) => task.run(input)),
    log: options.log ?? { info: noop, warn: noop },
    now,
    eventLoopLoad: createEventLoopLoad(),
    ownValidators: createOwnValidators(),
  };
  return (
    track,
    { signal = new AbortController().signal, range = { first: 0 }, client = '', isPeek = false } = {},
  ) => ({
    ...shared,
    track,
    signal,
    range,
    client,
    limits: isPeek ? peekLimits(limits) : limits,
    probes: isPeek ? undefined : probes,
    readAheadBudget: budgetOf(client),
  });
}
