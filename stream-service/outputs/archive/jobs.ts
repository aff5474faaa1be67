import { EventEmitter, once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { UNKNOWN_JOB_MS } from '../../../core/api/index.ts';
import type { Log } from '../../../core/log/index.ts';
import { type ArchiveProgress, NO_PROGRESS, PROGRESS_TTL_SECONDS, type State } from '../../../core/state/index.ts';
import { type EntryFeed, isFailed } from './entry-feed.ts';

/** Archives whose clients follow their progress, by the ids that the clients chose. */
export interface ArchiveJobs {
  /** Begins to report on an archive that this process sends. It takes the place of an earlier one with its id. */
  start(jobId: string, total: number): ArchiveJob;
  /**
   * The progress now and after each change, until it has ended; `undefined` once in a while without a change. A job that is
   * sent by another process is followed in the table. Ends when the signal is aborted.
   * @param since epoch milliseconds from which the client has waited for a job that is unknown
   */
  watch(jobId: string, since: number, signal: AbortSignal): AsyncGenerator<ArchiveProgress | undefined>;
}

export interface ArchiveJob {
  /**
   * Passes the entries on, and reports each when it is taken and when the next one is.
   * @param before entries that an earlier request was sent
   */
  report(feed: EntryFeed, titleOf: (number: number) => string | null, before: number): EntryFeed;
  /** Settles when the table has the end. Further calls have no effect. */
  end(state: 'done' | 'failed'): Promise<void>;
}

export interface ArchiveJobsOptions {
  readonly state: Pick<State, 'getArchiveProgress' | 'putArchiveProgress'>;
  readonly log: Log;
  /** Milliseconds between two writes of a job at least, and between two reads. @default 1000 */
  readonly intervalMs?: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

const INTERVAL_MS = 1_000;
/** An unchanged job is written again, long before the table forgets it. */
const RENEWAL_MS = (PROGRESS_TTL_SECONDS / 4) * 1000;
/** Proxies end a response without a byte after a minute. */
const IDLE_MS = 15_000;
const MAX_TITLE_CHARACTERS = 200;

/** Missing entries that are named: a page shows no more. */
const MAX_MISSING = 20;

export function createArchiveJobs(options: ArchiveJobsOptions): ArchiveJobs {
  const { state, log, intervalMs = INTERVAL_MS, now = Date.now } = options;
  /** Those of this process, with their progress. */
  const running = new Map<string, { progress: ArchiveProgress }>();
  const changes = new EventEmitter().setMaxListeners(0);
  const changeOf = (jobId: string) => `job ${jobId}`;

  /** Settles at the next change in this process, or when it is time to read the table. */
  const nextChange = async (jobId: string, signal: AbortSignal): Promise<void> => {
    const over = new AbortController();
    const until = { signal: AbortSignal.any([signal, over.signal]) };
    try {
      await Promise.race([once(changes, changeOf(jobId), until), sleep(intervalMs, undefined, until)]);
    } catch {
      // The watcher has left.
    } finally {
      over.abort();
    }
  };

  const readProgress = async (
    jobId: string,
    last: ArchiveProgress | undefined,
  ): Promise<ArchiveProgress | undefined> => {
    const own = running.get(jobId)?.progress;
    if (own) return own;
    return state.getArchiveProgress(jobId).catch((error) => {
      log.warn('Failed to read the progress of an archive', { error });
      return last;
    });
  };

  return {
    start(jobId, total) {
      const job: { progress: ArchiveProgress } = { progress: { ...NO_PROGRESS, total } };
      running.set(jobId, job);
      changes.emit(changeOf(jobId));
      const isReplaced = () => running.get(jobId) !== job;
      const change = (part: Partial<ArchiveProgress>) => {
        if (isReplaced()) return;
        job.progress = { ...job.progress, ...part };
        changes.emit(changeOf(jobId));
      };

      let written: ArchiveProgress | undefined;
      let writtenAt = 0;
      let writing: Promise<void> | undefined;
      const write = async () => {
        written = job.progress;
        writtenAt = now();
        await state
          .putArchiveProgress(jobId, written)
          .catch((error) => log.warn('Failed to store the progress of an archive', { error }));
        writing = undefined;
      };
      const timer = setInterval(() => {
        if (isReplaced()) clearInterval(timer);
        else if (!writing && (job.progress !== written || now() - writtenAt >= RENEWAL_MS)) writing = write();
      }, intervalMs).unref();

      return {
        async *report(feed, titleOf, before) {
          // An archive may be begun again without a length.
          const { total } = job.progress;
          if (!isReplaced()) job.progress = NO_PROGRESS;
          change({ total, completed: before });
          for await (const entry of feed) {
            const title = titleOf(entry.number)?.slice(0, MAX_TITLE_CHARACTERS).toWellFormed() ?? null;
            const addMissing = () => {
              const { skipped, missingEntries = [] } = job.progress;
              const isNamed = title !== null && missingEntries.length < MAX_MISSING;
              change({ skipped: skipped + 1, ...(isNamed && { missingEntries: [...missingEntries, title] }) });
            };
            if (isFailed(entry)) {
              addMissing();
              yield entry;
              continue;
            }
            change({ current: title });
            yield entry;
            if (entry.body.readableEnded) change({ completed: job.progress.completed + 1 });
            else addMissing();
          }
          return undefined;
        },
        async end(ended) {
          if (isReplaced() || job.progress.state !== 'building') return;
          clearInterval(timer);
          change({ state: ended, current: null });
          await writing;
          await write();
          if (!isReplaced()) running.delete(jobId);
        },
      };
    },

    async *watch(jobId, since, signal) {
      let last: ArchiveProgress | undefined;
      let sentAt = now();
      while (!signal.aborted) {
        // It listens before it reads: a change between the two is not missed.
        const changed = nextChange(jobId, signal);
        let found = await readProgress(jobId, last);
        const isGone = found === undefined && (last !== undefined || now() - since >= UNKNOWN_JOB_MS);
        if (isGone) found = { ...(last ?? NO_PROGRESS), state: 'failed', current: null };
        if (found && !isDeepStrictEqual(found, last)) {
          last = found;
          sentAt = now();
          yield found;
          if (found.state !== 'building') return;
        } else if (last && now() - sentAt >= IDLE_MS) {
          sentAt = now();
          yield undefined;
        }
        await changed;
      }
    },
  };
}
