import { Readable } from 'node:stream';
import type { ArchiveParameters } from '../../../core/api/index.ts';
import {
  InvalidParameter,
  NotDeliverable,
  NotFound,
  UnsupportedRendition,
  UpstreamError,
} from '../../../core/errors/index.ts';
import type { Log } from '../../../core/log/index.ts';
import type { ArchivedList } from '../../../core/state/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import { firstBytes } from '../../source/index.ts';
import type { Representation, RepresentationHead, RepresentationOpener } from '../representation.ts';
import { type ArchivePlan, createArchivePlans, indexFile } from './archive-plan.ts';
import { type ChooseEntryDependencies, createChooseEntry } from './choose-entry.ts';
import { createEntryFeed, type EntryFeed, type EntryJob, isFailed, type OpenEntry } from './entry-feed.ts';
import { createEntryNames, indexesFrom } from './entry-names.ts';
import { createEntrySessions } from './entry-session.ts';
import { type EntryResult, indexText } from './index-text.ts';
import { plannedTar, tarArchive, tarExtents, tarJobs } from './tar-archive.ts';
import { zipArchive } from './zip-archive.ts';

export interface ArchivesDependencies extends ChooseEntryDependencies {
  readonly log: Log;
  /** Waits before an entry is tried again. @default a timer */
  readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<unknown>;
}

/** Streams the entries of lists as archives. */
export interface Archives {
  /** @throws InvalidParameter when the list has no entry of the number `from` */
  open(list: ArchivedList, parameters: ArchiveParameters): RepresentationOpener;
}

const HEADS = {
  zip: { mimeType: 'application/zip', fileExtension: '.zip', acceptRanges: 'none' },
  tar: { mimeType: 'application/x-tar', fileExtension: '.tar', acceptRanges: undefined },
} as const;
/** For the first entry that can be opened: proxies wait a minute for the first byte. */
const MAX_OPENING_MS = 45_000;

export function createArchives(dependencies: ArchivesDependencies): Archives {
  const { log, wait } = dependencies;
  const choose = createChooseEntry(dependencies);
  const plans = createArchivePlans({ choose });

  /** Opens an entry and waits for its first bytes. */
  const createOpen = (list: ArchivedList, parameters: ArchiveParameters, plan: ArchivePlan | undefined) => {
    const names = createEntryNames(list);
    return async (
      { index, range }: EntryJob,
      openSession: ReturnType<typeof createEntrySessions>,
    ): Promise<OpenEntry> => {
      const entry = list.entries[index];
      if (!entry) throw new RangeError(`No entry ${index}`);
      const session = openSession();
      try {
        const chosen = await choose.resolved({ list, entry, number: names.numberOf(index) }, parameters, session);
        const representation = await chosen.opener.open(session, range);
        const { size, etag, fileExtension } = representation;
        const path = names.pathOf(index, chosen, fileExtension);
        if (plan) requirePlanned(plan, { index, path, size, etag });
        if (size === undefined && parameters.format === 'tar')
          throw new UnsupportedRendition('Its length is known at its end only, which TAR cannot hold. Use format=zip.');
        const body = representation.read(range.first, range.last);
        session.onClose(() => body.destroy());
        // While it waits for its turn, nothing else listens.
        body.on('error', () => undefined);
        await firstBytes(body);
        return { index, path, modifiedAt: chosen.modifiedAt, head: representation, body, close: session.close };
      } catch (error) {
        session.close();
        log.info('Entry of an archive failed', { list: list.id, index, error });
        throw error;
      }
    };
  };

  return {
    open(list, parameters) {
      const { format, from } = parameters;
      const { first: firstIndex, last: lastNumber } = indexesFrom(list, from);
      if (firstIndex < 0) throw new InvalidParameter(`The last entry of the list is number ${lastNumber}.`);
      const head = { ...HEADS[format], size: undefined };
      const indexOf = (results: readonly EntryResult[]) => {
        const text = indexText(list, results);
        return { ...indexFile(list, text), text };
      };
      const allJobs: readonly EntryJob[] = [...list.entries.keys()]
        .slice(firstIndex)
        .map((index) => ({ index, range: { first: 0 } }));

      const createFeed = (session: StreamSession, jobs: readonly EntryJob[], plan: ArchivePlan | undefined) => {
        const openSession = createEntrySessions(session);
        const open = createOpen(list, parameters, plan);
        const feed = createEntryFeed({ jobs, open: (job) => open(job, openSession), signal: session.signal, wait });
        session.onClose(feed.close);
        return plan ? rejectingPlan(feed, () => plans.reject(list, parameters)) : feed;
      };

      const openSequence = async (session: StreamSession): Promise<Representation> => {
        const feed = await startFeed(createFeed(session, allJobs, undefined), format === 'tar');
        const onBreak = (index: number, error: unknown) => {
          // The client has left, or the service drains: the archive ends, not the entry.
          if (session.signal.aborted) throw error;
          log.warn('Entry of an archive failed midway', { list: list.id, index, error });
        };
        const generate = () =>
          format === 'zip'
            ? zipArchive({ feed, indexFile: indexOf, isExact: false, onBreak })
            : tarArchive({ feed, indexFile: indexOf });
        return { ...head, acceptRanges: 'none', read: () => toStream(generate()) };
      };

      const openZip = async (plan: ArchivePlan, session: StreamSession): Promise<Representation | undefined> => {
        const index = { ...indexFile(list, plan.index), text: plan.index };
        const jobs = plan.files.map((file) => ({ index: file.index, range: { first: 0 } }));
        const feed = createFeed(session, jobs, plan);
        const first = await feed.next();
        if (!first || isFailed(first)) {
          feed.close();
          return undefined;
        }
        const onBreak = () => plans.reject(list, parameters);
        const options = { feed: startingWith([first], feed), indexFile: () => index, isExact: true, onBreak };
        return { ...headOf(plan), read: () => toStream(zipArchive(options)) };
      };

      const openTar = (plan: ArchivePlan, session: StreamSession): Representation => {
        const index = { ...indexFile(list, plan.index), text: plan.index };
        const extents = tarExtents(plan, index);
        const read = (first: number, last = plan.size - 1) => {
          const feed = createFeed(session, tarJobs(extents, first, last), plan);
          return toStream(plannedTar(extents, { first, last }, feed));
        };
        return { ...headOf(plan), read };
      };

      const headOf = ({ size, etag, isRanged }: ArchivePlan): RepresentationHead => ({
        ...HEADS[format],
        size,
        etag,
        acceptRanges: format === 'tar' && isRanged ? 'bytes' : 'none',
      });

      return {
        describe: () => head,
        async inspect(session) {
          const plan = await plans.load(list, parameters, session);
          return plan ? headOf(plan) : head;
        },
        async open(session) {
          const plan = await plans.load(list, parameters, session);
          if (plan && format === 'tar') return openTar(plan, session);
          // Nothing is promised yet: when the first entry is not as planned, the archive is sent without a length.
          return (plan && (await openZip(plan, session))) ?? openSequence(session);
        },
      };
    },
  };

  function requirePlanned(plan: ArchivePlan, opened: Pick<OpenEntry, 'index' | 'path'> & Partial<RepresentationHead>) {
    const file = plan.files.find(({ index }) => index === opened.index);
    const isAsPlanned =
      file &&
      file.path === opened.path &&
      file.size === opened.size &&
      (file.etag === undefined || file.etag === opened.etag);
    if (!isAsPlanned) throw new UpstreamError('The file is not as announced');
  }
}

const toStream = (bytes: AsyncGenerator<Buffer>): Readable => Readable.from(nonEmpty(bytes), { objectMode: false });

/** A stream of bytes must not contain empty chunks. */
async function* nonEmpty(bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) if (chunk.length > 0) yield chunk;
}

/**
 * Waits until one entry is open. The returned feed begins with the entries that failed before it.
 * @throws the first failure when no entry can be opened, or none in time
 */
async function startFeed(feed: EntryFeed, needsLength: boolean): Promise<EntryFeed> {
  const startedAt = performance.now();
  const read: Awaited<ReturnType<EntryFeed['next']>>[] = [];
  for (;;) {
    const entry = await feed.next();
    read.push(entry);
    if (entry && !isFailed(entry)) break;
    const isOver = performance.now() - startedAt > MAX_OPENING_MS;
    if (!entry || isOver) throw firstFailure(read, needsLength);
  }
  return startingWith(read, feed);
}

/** A feed that begins with entries that were taken from it. */
const startingWith = (taken: Awaited<ReturnType<EntryFeed['next']>>[], feed: EntryFeed): EntryFeed => ({
  next: async () => (taken.length > 0 ? taken.shift() : feed.next()),
  close: feed.close,
});

/** Reports an entry that differs from its plan. */
const rejectingPlan = (feed: EntryFeed, reject: () => void): EntryFeed => ({
  async next() {
    const entry = await feed.next();
    if (entry && isFailed(entry)) reject();
    return entry;
  },
  close: feed.close,
});

function firstFailure(read: readonly Awaited<ReturnType<EntryFeed['next']>>[], needsLength: boolean): unknown {
  const errors = read.flatMap((entry) => (entry && isFailed(entry) ? [entry.error] : []));
  const other = errors.find((error) => !(error instanceof UnsupportedRendition));
  if (needsLength && errors.length > 0 && !other)
    return new UnsupportedRendition('No entry has a length beforehand, which TAR requires. Use format=zip.');
  // A stream that cannot be delivered is a failed fetch elsewhere; here the list can be told apart from its entries.
  if (other instanceof NotDeliverable) return new UnsupportedRendition(other.detail, { cause: other });
  return other ?? new NotFound('The list has no entries');
}
