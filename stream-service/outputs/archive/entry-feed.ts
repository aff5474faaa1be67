import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PredictedRange } from '@reelay/seekable-media/http';
import {
  CapacityExceeded,
  ClientLimitExceeded,
  EgressRefused,
  InMaintenance,
  InvalidParameter,
  NotDeliverable,
  NotFound,
  UnsupportedRendition,
} from '../../../core/errors/index.ts';

/** What is to be read of an entry. */
export interface EntryJob {
  /** Place of the entry in the list, from 1. */
  readonly number: number;
  /** Its bytes. */
  readonly range: PredictedRange;
}

/** An entry whose first bytes are buffered. */
export interface OpenEntry {
  readonly number: number;
  readonly path: string;
  readonly modifiedAt: Date;
  /** Bytes, exact; undefined: unknown before the end. */
  readonly size: number | undefined;
  readonly body: Readable;
  /** Destroys the body and closes its sources. */
  close(): void;
}

export interface FailedEntry {
  readonly number: number;
  readonly error: unknown;
}

/** Entries in order. Those that were taken from it belong to the caller. */
export type EntryFeed = AsyncGenerator<OpenEntry | FailedEntry, undefined>;

export interface EntryFeedOptions {
  readonly jobs: readonly EntryJob[];
  readonly open: (job: EntryJob) => Promise<OpenEntry>;
  /** Called when an entry has failed for good. */
  readonly onFailed: () => void;
  readonly signal: AbortSignal;
  /** Waits before an entry is tried again. @default a timer */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<unknown>;
}

export const isFailed = (entry: OpenEntry | FailedEntry): entry is FailedEntry => 'error' in entry;

/** Attempts to open an entry while the instance, or the share of the client, is full. */
const MAX_ATTEMPTS_AT_LIMIT = 6;
/** Attempts after other failures that may pass. */
const MAX_ATTEMPTS = 2;
const DEFAULT_DELAY_SECONDS = 5;

/** Opens entries in order, each while the one before it is read. Never fails for an entry that fails. */
export async function* feedEntries({ jobs, open, onFailed, signal, wait = waitTimer }: EntryFeedOptions): EntryFeed {
  const settle = (job: EntryJob): Promise<OpenEntry | FailedEntry> =>
    open(job).catch((error: unknown) => ({ number: job.number, error }));

  /** The entry as opened ahead, or tried again: what failed while another entry was being read may succeed now. */
  const openNow = async (job: EntryJob, early: OpenEntry | FailedEntry | undefined) => {
    let entry = early;
    for (let attempt = 1; ; attempt += 1) {
      entry ??= await settle(job);
      if (!isFailed(entry)) {
        if (!entry.body.errored) return entry;
        // Failed while it waited, before any byte of it was sent.
        entry.close();
        entry = { number: job.number, error: entry.body.errored };
      }
      const limit = isAtLimit(entry.error) ? MAX_ATTEMPTS_AT_LIMIT : MAX_ATTEMPTS;
      if (signal.aborted || isPermanent(entry.error) || attempt >= limit) return entry;
      if (isAtLimit(entry.error) && attempt > 1) await wait(delayMsOf(entry.error), signal).catch(() => undefined);
      entry = undefined;
    }
  };

  let ahead: Promise<OpenEntry | FailedEntry> | undefined;
  try {
    for (const [position, job] of jobs.entries()) {
      const entry = await openNow(job, await ahead);
      ahead = undefined;
      if (isFailed(entry)) onFailed();
      const following = jobs[position + 1];
      if (following && !signal.aborted) ahead = settle(following);
      yield entry;
      if (signal.aborted) return;
    }
  } finally {
    void ahead?.then((entry) => !isFailed(entry) && entry.close());
  }
}

/** Whether the instance, or the share of the client, is full for now. */
const isAtLimit = (error: unknown): error is CapacityExceeded | ClientLimitExceeded | InMaintenance =>
  error instanceof CapacityExceeded || error instanceof ClientLimitExceeded || error instanceof InMaintenance;

/** Whether another attempt would fail in the same way. */
export const isPermanent = (error: unknown): boolean =>
  [NotFound, NotDeliverable, EgressRefused, UnsupportedRendition, InvalidParameter].some(
    (kind) => error instanceof kind,
  );

const delayMsOf = (error: CapacityExceeded | ClientLimitExceeded | InMaintenance): number =>
  1000 * (('retryAfterSeconds' in error && error.retryAfterSeconds) || DEFAULT_DELAY_SECONDS);

const waitTimer = (delayMs: number, signal: AbortSignal) => sleep(delayMs, undefined, { signal });
