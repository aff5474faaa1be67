import { createCache, createSemaphore, createSingleFlight } from '@reelay/concurrency';
import { zipBytes } from '@reelay/seekable-media/zip';
import { type Name, nameOf } from '@reelay/source/names';
import type { Selection } from '../../../core/api/index.ts';
import type { ArchivedList } from '../../../core/state/index.ts';
import { openChildSession, type StreamSession } from '../../sessions/index.ts';
import type { Outputs, PlannedOutput, RepresentationHead } from '../representation.ts';
import {
  type ArchiveRequest,
  type ChooseEntryDependencies,
  type ChosenEntry,
  chooseRendition,
  type EntryReader,
  type EntryResult,
  type IndexFile,
  listContents,
  readStored,
  reasonOf,
} from './entries.ts';
import { isPermanent } from './entry-feed.ts';

/** The entries of a list as one file. */
export interface PlannedArchive extends PlannedOutput {
  readonly kind: 'archive';
  readonly request: ArchiveRequest;
  /** Reports its progress. */
  readonly jobId?: string;
}

/** @throws InvalidParameter when there is no entry of the number `from` or a higher one */
export const planArchive = (
  { list }: { readonly list: ArchivedList },
  { jobId, ...selection }: Selection,
): PlannedArchive => ({
  kind: 'archive',
  jobId,
  request: { contents: listContents(list, selection), selection },
  head: archiveHead(),
  answersHead: false,
});

/** @param plan absent: the archive has no length, or nobody knows yet */
export const archiveHead = (plan?: ArchivePlan): RepresentationHead => ({
  mimeType: 'application/zip',
  fileExtension: '.zip',
  size: plan?.size,
  etag: plan?.etag,
  acceptRanges: plan ? 'bytes' : 'none',
});

/** A file of an archive whose every byte is promised. */
export interface PlannedFile {
  /** Place of its entry in the list, from 1. */
  readonly number: number;
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: Date;
  /** Absent when it is known only once the source is open. */
  readonly etag?: string;
}

/** An archive of known length. */
export interface ArchivePlan {
  readonly files: readonly PlannedFile[];
  /** The last file. */
  readonly index: IndexFile;
  readonly size: number;
  /** Only when every file has one. */
  readonly etag: string | undefined;
  /** The CRC-32 of files that have been read, by their numbers. */
  readonly checksums: Map<number, number>;
}

/** Plans archives, when that is possible within a few seconds. */
export interface ArchivePlans {
  /** Undefined when an entry has no length, or is not stored, or the time is up. */
  load(request: ArchiveRequest, session: StreamSession): Promise<ArchivePlan | undefined>;
  /** Notes that a file was not as planned: the archive has no length for a while. */
  reject(request: ArchiveRequest): void;
}

/** For opening the sources that the table does not describe completely. */
const TIMEOUT_MS = 5_000;
/** Entries read from the table, or opened, at once: in all, and for one client. A stored resource may take 10 MB. */
const MAX_AT_ONCE = 12;
const MAX_AT_ONCE_PER_CLIENT = 8;
/** A download that is interrupted continues with the same plan, and the checksums of what was sent, for longer than that. */
const PLAN_LIFETIME_MS = 10 * 60_000;
const CHECKSUMS_LIFETIME_MS = 24 * 60 * 60_000;
/** A plan of 200 files takes about 100 KB. */
const MAX_PLANS = 32;
const MAX_CHECKSUMS = 256;

type Missing = Extract<EntryResult, { reason: string }>;

export interface ArchivePlansDependencies extends ChooseEntryDependencies {
  readonly outputs: Pick<Outputs<ChosenEntry['plan']>, 'inspect'>;
}

export function createArchivePlans(dependencies: ArchivePlansDependencies): ArchivePlans {
  const plans = createCache<Name, { readonly plan: ArchivePlan | undefined }>({
    maxEntries: MAX_PLANS,
    maxAgeMs: PLAN_LIFETIME_MS,
  });
  const checksums = createCache<Name, Map<number, number>>({
    maxEntries: MAX_CHECKSUMS,
    maxAgeMs: CHECKSUMS_LIFETIME_MS,
  });
  const flights = createSingleFlight<ArchivePlan | undefined, Name>();
  const permits = createSemaphore({ permits: MAX_AT_ONCE, maxPerClient: MAX_AT_ONCE_PER_CLIENT });

  const describeEntry = async (
    request: ArchiveRequest,
    number: number,
    reader: EntryReader,
  ): Promise<PlannedFile | Missing> => {
    const { contents } = request;
    const entry = contents.entries.get(number);
    const resource = entry && (await readStored(entry, dependencies));
    if (!resource) throw new Error('An entry is not stored');
    const chosen = await chooseRendition(resource, number, request, dependencies).catch((error) => {
      if (!isPermanent(error)) throw error;
      return { number, reason: reasonOf(error) };
    });
    if ('reason' in chosen) return chosen;
    const { plan, modifiedAt, ...naming } = chosen;
    const { size, etag, fileExtension } = await describeExactly(plan, reader, dependencies.outputs);
    if (size === undefined) throw new Error('An entry has no length');
    const path = contents.pathOf(number, naming, fileExtension);
    return { number, path, size, modifiedAt, etag };
  };

  const assemble = (
    { contents }: ArchiveRequest,
    results: readonly (PlannedFile | Missing)[],
  ): ArchivePlan | undefined => {
    const files = results.filter((result) => 'path' in result);
    if (files.length === 0) return undefined;
    const index = contents.indexFile(results);
    // The layout is named: a change of the bytes that the same files make is a new name.
    const id = nameOf([], 'zip, stored blocks', [files, index.text]);
    const isNamed = files.every(({ etag }) => etag !== undefined);
    return {
      files,
      index,
      size: zipBytes([...files, index]),
      etag: isNamed ? `"${id}"` : undefined,
      checksums: (isNamed && checksums.get(id)) || checksums.set(id, new Map()),
    };
  };

  /** What fails says nothing about the archive, except that it has no length now. */
  const plan = async (request: ArchiveRequest, client: string, signal: AbortSignal) => {
    const failed = new AbortController();
    const until = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS), failed.signal]);
    const describe = async (number: number) => {
      const permit = await permits.acquire(client, until);
      return describeEntry(request, number, { client, signal: until }).finally(permit.release);
    };
    try {
      return assemble(request, await Promise.all([...request.contents.entries.keys()].map(describe)));
    } catch (error) {
      failed.abort(error);
      signal.throwIfAborted();
      return undefined;
    }
  };

  return {
    async load(request, session) {
      const id = idOf(request);
      const cached = plans.get(id);
      if (cached) return cached.plan;
      const found = await flights(id, (signal) => plan(request, session.client, signal), session.signal);
      if (found) plans.set(id, { plan: found });
      return found;
    },
    reject: (request) => void plans.set(idOf(request), { plan: undefined }),
  };
}

const idOf = ({ contents: { list }, selection }: ArchiveRequest): Name =>
  nameOf([], 'archive', [list.id, list.entries, selection]);

/** Describes a file from the state table. A length that is unknown there is read from the open source. */
async function describeExactly(
  plan: ChosenEntry['plan'],
  reader: EntryReader,
  outputs: ArchivePlansDependencies['outputs'],
): Promise<RepresentationHead> {
  if (plan.head.size !== undefined) return plan.head;
  const session = openChildSession(reader);
  return outputs.inspect(plan, session, { first: 0, last: 0 }).finally(session.close);
}
