import { randomUUID } from 'node:crypto';
import { createCache } from '@reelay/concurrency';
import { AvailabilityProbes } from './availability-probe.ts';
import { defaultLimits, peekLimits, type SourceLimits } from './limits.ts';
import { fetchBuffer } from './memory.ts';
import { type Name, nameOf } from './names.ts';
import { createEventLoopLoad, createReadAheadBudgets } from './read-ahead.ts';
import type { OpenOptions, OpenRequest, OwnValidators } from './source.ts';
import type { SourceTrack } from './track.ts';
import type { UpstreamTarget } from './upstream-request.ts';

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

interface SeenFile {
  readonly size: number | undefined;
  readonly validator: string;
  /** With the latest bytes of the stream that it was opened for. */
  readonly seen: UpstreamTarget['seen'];
}

const SEEN = { maxEntries: 1000, maxAgeMs: 24 * 60 * 60_000 };
const HEAD_BYTES = 4096;

export function createOwnValidators(): OwnValidators {
  const files = createCache<Name, SeenFile>(SEEN);
  return {
    async find({ track, signal, ...request }, target, isRangeless) {
      const name = nameOf([{ track }], 'seen file');
      const { size } = target.entity;
      const read = async (first: number, bytes: number) => {
        const last = first + bytes - 1;
        const copy = { ...target, seen: {} };
        return (await fetchBuffer({ ...request, target: copy }, bytes, signal, { first, last })).bytes;
      };
      const known = files.get(name);
      const sample = known?.size === size ? known?.seen.sample : undefined;
      if (known && sample && (await read(sample.first, sample.bytes.length)).equals(sample.bytes))
        return known.validator;
      const seen = isRangeless ? { sample: { first: 0, bytes: await read(0, HEAD_BYTES) } } : target.seen;
      return files.set(name, { size, validator: `own ${randomUUID()}`, seen }).validator;
    },
  };
}
