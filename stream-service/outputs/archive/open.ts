import { Readable } from 'node:stream';
import type { ByteRange, PredictedRange } from '@reelay/seekable-media/http';
import { firstBytes } from '@reelay/source';
import { NotDeliverable, NotFound, UnsupportedRendition, UpstreamError } from '../../../core/errors/index.ts';
import type { Log } from '../../../core/log/index.ts';
import { openChildSession, type StreamSession } from '../../sessions/index.ts';
import { type Opening, type Outputs, type Representation, type RepresentationHead, unread } from '../representation.ts';
import {
  type ArchiveRequest,
  type ChooseEntryDependencies,
  type ChosenEntry,
  chooseRendition,
  readStored,
  resolveEntry,
} from './entries.ts';
import {
  type EntryFeed,
  type EntryFeedOptions,
  type EntryJob,
  type FailedEntry,
  feedEntries,
  isFailed,
  type OpenEntry,
} from './entry-feed.ts';
import type { ArchiveJob, ArchiveJobs } from './jobs.ts';
import { type ArchivePlan, archiveHead, createArchivePlans, type PlannedArchive, type PlannedFile } from './plan.ts';
import { plannedZip, readChecksums, uncheckedFiles, zipArchive, zipExtents, zipJobs } from './zip-archive.ts';

export interface ArchivesDependencies extends ChooseEntryDependencies, Pick<EntryFeedOptions, 'wait'> {
  readonly outputs: Outputs<ChosenEntry['plan']>;
  readonly log: Log;
  readonly archiveJobs: Pick<ArchiveJobs, 'start'>;
}

/** Streams the entries of lists as archives. */
export interface Archives {
  open(plan: PlannedArchive, opening: Pick<Opening, 'session' | 'range' | 'isForHead'>): Promise<Representation>;
}

/** The response that an archive is sent with. */
interface Sending {
  readonly session: StreamSession;
  /** Reports its progress. */
  readonly job?: ArchiveJob | undefined;
}

/** For the first entry that can be opened: proxies wait a minute for the first byte. */
const MAX_OPENING_MS = 45_000;

export function createArchives(dependencies: ArchivesDependencies): Archives {
  const { log, outputs, archiveJobs, wait } = dependencies;
  const plans = createArchivePlans(dependencies);

  /** Opens an entry and waits for its first bytes. @param planned what it has to be */
  const openEntry = async (
    { number, range }: EntryJob,
    request: ArchiveRequest,
    archive: StreamSession,
    planned: PlannedFile | undefined,
  ): Promise<OpenEntry> => {
    const { list, entries, pathOf } = request.contents;
    const entry = entries.get(number);
    if (!entry) throw new RangeError(`No entry ${number}`);
    const session = openChildSession(archive);
    try {
      const resource =
        (await readStored(entry, dependencies)) ?? (await resolveEntry(entry, list, session, dependencies));
      const { plan, modifiedAt, ...naming } = await chooseRendition(resource, number, request, dependencies);
      const { size, etag, fileExtension, read } = await outputs.open(plan, session, range);
      const path = pathOf(number, naming, fileExtension);
      if (planned) requirePlanned(planned, { path, size, etag });
      const body = read(range.first, range.last);
      session.onClose(() => body.destroy());
      // While it waits for its turn, nothing else listens.
      body.on('error', () => undefined);
      await firstBytes(body);
      return { number, path, modifiedAt, size, body, close: session.close };
    } catch (error) {
      session.close();
      log.info('Entry of an archive failed', { list: list.id, number, error });
      throw error;
    }
  };

  const createFeed = (
    request: ArchiveRequest,
    { session, job }: Sending,
    jobs: readonly EntryJob[],
    plan?: ArchivePlan,
  ): EntryFeed => {
    const planned = new Map(plan?.files.map((file) => [file.number, file]));
    const onFailed = () => {
      if (plan) plans.reject(request);
    };
    const open = (job: EntryJob) => openEntry(job, request, session, planned.get(job.number));
    const feed = feedEntries({ jobs, open, onFailed, signal: session.signal, wait });
    const { entries } = request.contents;
    const before = plan ? plan.files.length - jobs.length : 0;
    return job ? job.report(feed, (number) => entries.get(number)?.title ?? null, before) : feed;
  };

  /** An archive whose length is unknown, because some entry's is. */
  const openSequence = async (request: ArchiveRequest, sending: Sending): Promise<Representation> => {
    const { session, job } = sending;
    const { contents } = request;
    const jobs = [...contents.entries.keys()].map((number) => ({ number, range: { first: 0 } }));
    const feed = await startFeed(createFeed(request, sending, jobs));
    const onBreak = (number: number, error: unknown) => {
      // The client has left, or the service drains: the archive ends, not the entry.
      if (session.signal.aborted) throw error;
      log.warn('Entry of an archive failed midway', { list: contents.list.id, number, error });
    };
    const { indexFile } = contents;
    return { ...archiveHead(), read: () => toStream(zipArchive({ feed, indexFile, onBreak }), job) };
  };

  /** An archive of known length. Undefined when the first entry of the whole is not as planned: nothing has been promised yet. */
  const openPlanned = async (
    request: ArchiveRequest,
    sending: Sending,
    plan: ArchivePlan,
    predicted: PredictedRange,
  ): Promise<Representation | undefined> => {
    const { session } = sending;
    const { checksums } = plan;
    const extents = zipExtents(plan);
    const whole = { first: 0, last: plan.size - 1 };
    const feedOf = (range: ByteRange) => createFeed(request, sending, zipJobs(extents, range), plan);
    let ahead: EntryFeed | undefined;
    if (predicted.first === 0 && predicted.last === undefined) {
      const feed = feedOf(whole);
      const { value: first } = await feed.next();
      if (!first || isFailed(first)) return void (await feed.return(undefined));
      ahead = startWith([first], feed);
    }
    async function* bytesOf(range: ByteRange): AsyncGenerator<Buffer> {
      const feed = (range.first === 0 && range.last === whole.last && ahead) || feedOf(range);
      const unchecked = uncheckedFiles(extents, range).filter(({ number }) => !checksums.has(number));
      const checks = createFeed(
        request,
        { session },
        unchecked.map(({ number }) => ({ number, range: { first: 0 } })),
        plan,
      );
      const checksumOf = readChecksums(unchecked, checks, checksums);
      try {
        yield* plannedZip({ extents, range, feed, checksums, checksumOf });
      } catch (error) {
        if (!session.signal.aborted) plans.reject(request);
        throw error;
      }
    }
    return {
      ...archiveHead(plan),
      read: (first, last = whole.last) => toStream(bytesOf({ first, last }), sending.job),
    };
  };

  return {
    async open({ request, jobId }, { session, range, isForHead }) {
      // A part that ends before the archive does is not its progress.
      const isReported = jobId !== undefined && !isForHead && range.last === undefined;
      const job = isReported ? archiveJobs.start(jobId, request.contents.entries.size) : undefined;
      // Without effect once it is done.
      if (job) session.onClose(() => void job.end('failed'));
      const plan = await plans.load(request, session);
      if (isForHead) return { ...archiveHead(plan), read: unread };
      const sending = { session, job };
      return (plan && (await openPlanned(request, sending, plan, range))) ?? openSequence(request, sending);
    },
  };
}

function requirePlanned(
  planned: PlannedFile,
  { path, size, etag }: Pick<OpenEntry, 'path' | 'size'> & Pick<RepresentationHead, 'etag'>,
): void {
  const isSame =
    planned.path === path && planned.size === size && (planned.etag === undefined || planned.etag === etag);
  if (!isSame) throw new UpstreamError('Archive entry differs from its planned size or ETag');
}

const toStream = (bytes: AsyncGenerator<Buffer>, job?: ArchiveJob): Readable =>
  Readable.from(untilDone(bytes, job), { objectMode: false });

/** A stream of bytes must not contain empty chunks. The job is done before the stream ends: a Lambda function stops there. */
async function* untilDone(bytes: AsyncGenerator<Buffer>, job: ArchiveJob | undefined): AsyncGenerator<Buffer> {
  for await (const chunk of bytes) if (chunk.length > 0) yield chunk;
  await job?.end('done');
}

/**
 * Waits until one entry is open. The returned feed begins with the entries that failed before it.
 * @throws the first failure when no entry can be opened, or none in time
 */
async function startFeed(feed: EntryFeed): Promise<EntryFeed> {
  const startedAt = performance.now();
  const failed: FailedEntry[] = [];
  for (;;) {
    const { value: entry } = await feed.next();
    if (entry && !isFailed(entry)) return startWith([...failed, entry], feed);
    if (entry) failed.push(entry);
    const isOver = performance.now() - startedAt > MAX_OPENING_MS;
    if (entry && !isOver) continue;
    await feed.return(undefined);
    throw reasonForNone(failed);
  }
}

/** A feed that begins with entries that were taken from it. */
async function* startWith(taken: readonly (OpenEntry | FailedEntry)[], feed: EntryFeed): EntryFeed {
  yield* taken;
  return yield* feed;
}

function reasonForNone(failed: readonly FailedEntry[]): unknown {
  const other = failed.find(({ error }) => !(error instanceof UnsupportedRendition))?.error;
  // A stream that cannot be delivered is a failed fetch elsewhere; here the list can be told apart from its entries.
  if (other instanceof NotDeliverable) return new UnsupportedRendition(other.detail, { cause: other });
  return other ?? new NotFound('The list has no entries');
}
