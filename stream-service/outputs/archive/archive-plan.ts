import { createHash } from 'node:crypto';
import type { ArchiveParameters } from '../../../core/api/index.ts';
import { createSemaphore, createLruCache, createSingleFlight } from '../../../core/concurrency/index.ts';
import { TAR_END_BYTES, tarHeader, tarPaddingBytes } from '../../../core/media/tar/index.ts';
import { zipBytes } from '../../../core/media/zip/index.ts';
import type { ArchivedList } from '../../../core/state/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import type { RepresentationHead } from '../representation.ts';
import type { ChooseEntry, ChosenEntry } from './choose-entry.ts';
import { isFinal } from './entry-feed.ts';
import { createEntryNames, indexesFrom } from './entry-names.ts';
import { createEntrySessions, type EntrySession } from './entry-session.ts';
import { type EntryResult, indexText, reasonOf } from './index-text.ts';

/** A file of an archive whose every byte is promised. */
export interface PlannedFile {
  readonly index: number;
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: Date;
  /** Absent when it is known only once the source is open. */
  readonly etag?: string;
}

/** An archive of known length. */
export interface ArchivePlan {
  readonly files: readonly PlannedFile[];
  /** The text of the last file. */
  readonly index: string;
  readonly size: number;
  /** Only when every file has one. */
  readonly etag?: string;
  /** Whether every file can be read from any byte. */
  readonly isRanged: boolean;
}

/** Plans archives, when that is possible within a few seconds. */
export interface ArchivePlans {
  /** Undefined when an entry has no length, or is not stored, or the time is up. */
  load(list: ArchivedList, parameters: ArchiveParameters, session: StreamSession): Promise<ArchivePlan | undefined>;
  /** Notes that a file was not as planned: the archive has no length for a while. */
  reject(list: ArchivedList, parameters: ArchiveParameters): void;
}

export interface ArchivePlansOptions {
  readonly choose: Pick<ChooseEntry, 'stored'>;
  /** Milliseconds for opening the sources that the table does not describe completely. @default 5000 */
  readonly timeoutMs?: number;
  /** Milliseconds. @default performance.now */
  readonly now?: () => number;
}

const TIMEOUT_MS = 5_000;
/** Entries read from the table, or opened, at once: in all, and for one client. A stored resource may take 10 MB. */
const MAX_AT_ONCE = 12;
const MAX_AT_ONCE_PER_CLIENT = 8;
/** A download that is interrupted continues with the same plan. */
const PLAN_LIFETIME_MS = 10 * 60_000;
/** A plan of 200 files takes about 100 KB. */
const MAX_PLANS = 32;

interface KnownPlan {
  readonly plan: ArchivePlan | undefined;
  readonly until: number;
}

type PlannedEntry = PlannedFile & { readonly isRanged: boolean };
type Missing = Extract<EntryResult, { reason: string }>;

export function createArchivePlans({
  choose,
  timeoutMs = TIMEOUT_MS,
  now = () => performance.now(),
}: ArchivePlansOptions): ArchivePlans {
  const known = createLruCache<string, KnownPlan>(MAX_PLANS);
  const flights = createSingleFlight<ArchivePlan | undefined>();
  const permits = createSemaphore({ permits: MAX_AT_ONCE, maxPerClient: MAX_AT_ONCE_PER_CLIENT });
  const store = (key: string, plan: ArchivePlan | undefined) =>
    known.set(key, { plan, until: now() + PLAN_LIFETIME_MS });

  const plan = async (
    list: ArchivedList,
    parameters: ArchiveParameters,
    session: Pick<StreamSession, 'client'>,
    signal: AbortSignal,
  ): Promise<ArchivePlan | undefined> => {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const failed = new AbortController();
    const until = AbortSignal.any([bounded, failed.signal]);
    const openSession = createEntrySessions(planningSession(session, until));
    const names = createEntryNames(list);
    const describe = async (index: number): Promise<PlannedEntry | Missing> => {
      const entry = list.entries[index];
      if (!entry) throw new RangeError(`No entry ${index}`);
      let chosen: ChosenEntry | undefined;
      try {
        chosen = await choose.stored({ list, entry, number: names.numberOf(index) }, parameters);
      } catch (error) {
        // Anything else, such as a call of the table that failed, says nothing about the entry.
        if (!isFinal(error)) throw error;
        return { index, reason: reasonOf(error) };
      }
      if (!chosen) throw new Error('An entry is not stored');
      const head = await describeExactly(chosen, parameters, openSession());
      if (head.size === undefined) throw new Error('An entry has no length');
      return {
        index,
        path: names.pathOf(index, chosen, head.fileExtension),
        size: head.size,
        modifiedAt: chosen.modifiedAt,
        etag: head.etag,
        isRanged: head.acceptRanges === 'bytes',
      };
    };
    const indexes = [...list.entries.keys()].slice(indexesFrom(list, parameters.from).first);
    try {
      const results = await Promise.all(
        indexes.map(async (index) => {
          const permit = await permits.acquire(session.client, until);
          return describe(index).finally(permit.release);
        }),
      );
      return assemblePlan(list, parameters, results);
    } catch (error) {
      failed.abort(error);
      signal.throwIfAborted();
      return undefined;
    }
  };

  return {
    async load(list, parameters, session) {
      const key = keyOf(list, parameters);
      const cached = known.get(key);
      if (cached && cached.until > now()) return cached.plan;
      const found = await flights(key, (signal) => plan(list, parameters, session, signal), session.signal);
      if (found) store(key, found);
      return found;
    },
    reject: (list, parameters) => store(keyOf(list, parameters), undefined),
  };
}

const keyOf = ({ id, entries }: ArchivedList, parameters: ArchiveParameters): string =>
  digest([id, entries, parameters]);

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

/**
 * From the state table. What is unknown there is read from the open source: the length, and for ranges the validator.
 */
async function describeExactly(
  { opener }: ChosenEntry,
  { format }: ArchiveParameters,
  session: EntrySession,
): Promise<RepresentationHead> {
  try {
    const head = opener.describe();
    const isComplete = head.size !== undefined && (format === 'zip' || head.etag !== undefined);
    if (isComplete || !opener.inspect) return head;
    return await opener.inspect(session, { first: 0, last: 0 });
  } finally {
    session.close();
  }
}

const planningSession = ({ client }: Pick<StreamSession, 'client'>, signal: AbortSignal): StreamSession => ({
  client,
  signal,
  onClose(callback) {
    if (signal.aborted) callback();
    else signal.addEventListener('abort', callback, { once: true });
  },
  markStreaming: () => undefined,
});

function assemblePlan(
  list: ArchivedList,
  parameters: ArchiveParameters,
  results: readonly (PlannedEntry | Missing)[],
): ArchivePlan | undefined {
  const files = results.filter((result) => 'path' in result);
  if (files.length === 0) return undefined;
  const index = indexText(list, results);
  const planned: Omit<ArchivePlan, 'size' | 'etag'> = {
    files,
    index,
    isRanged: files.every(({ isRanged }) => isRanged),
  };
  const all = [...files, indexFile(list, index)];
  const size =
    parameters.format === 'zip'
      ? zipBytes(all)
      : all.reduce((sum, file) => sum + tarHeader(file).length + file.size + tarPaddingBytes(file.size), TAR_END_BYTES);
  const hasEtags = files.every(({ etag }) => etag !== undefined);
  const etag = hasEtags ? `"${digest([LAYOUTS[parameters.format], files, index])}"` : undefined;
  return { ...planned, size, etag };
}

/** Name the bytes that an archive of the same files has: a change of them is a new name. */
const LAYOUTS = { zip: 'zip, stored blocks', tar: 'tar' } as const;

/** The index as a file of the archive: its date is that of files without one. */
export const indexFile = (list: ArchivedList, text: string) => ({
  path: createEntryNames(list).indexPath,
  size: Buffer.byteLength(text),
  modifiedAt: INDEX_DATE,
});

const INDEX_DATE = new Date(Date.UTC(1980, 0, 1));
