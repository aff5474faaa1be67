import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaInformation, Selection } from '../api-types.ts';
import type { Client } from '../client.ts';
import { ReelayError } from '../failure.ts';
import { type Download, type DownloadProgress, download, requireWritable, sizeOf } from '../files/index.ts';
import { type PlaylistCounts, playlistCountsOf } from '../response-headers.ts';
import type { RetryOptions } from '../retry.ts';
import { type FolderFile, type FolderState, lockFolder, openFolderState } from './folder-state.ts';
import { isDue, isFinal, libraryName, removeItem, titleOf, writeItem, writeLink } from './library.ts';

export interface SyncOptions extends RetryOptions {
  readonly link: string;
  readonly folder: string;
  readonly selection: Selection;
  /** Writes links with metadata for media centres instead of files. */
  readonly isLibrary?: boolean | undefined;
  /** Removes files of entries that the list no longer has. */
  readonly deletes?: boolean | undefined;
  /** Entries at the beginning of the list. @default all */
  readonly limit?: number | undefined;
  /** Fetches files again that are there. */
  readonly overwrites?: boolean | undefined;
  readonly onEntry?: ((entry: SyncedEntry) => void) | undefined;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** The result of one entry. */
export interface SyncedEntry {
  /** Place in the list, from 1, of so many. */
  readonly number: number;
  readonly count: number;
  readonly title: string;
  /** Absent: the file was there already. `unavailable`: it is gone, private or protected. */
  readonly outcome?:
    | { readonly download: Download }
    | { readonly failure: ReelayError }
    | { readonly unavailable: ReelayError };
}

interface SyncSummary {
  readonly entries: readonly SyncedEntry[];
  readonly deletedFiles: readonly string[];
  /** The instance may not have listed every entry, so nothing was deleted. */
  readonly isIncomplete: boolean;
  /** The state of the folder was damaged. */
  readonly isRebuilt: boolean;
}

/** The `selection` of a library entry in the state of a folder. Other options change its link, but not its files. */
const LIBRARY = 'strm';
/** Retries of an entry whose site fails; the next run tries it again. */
const MAX_SITE_WAIT_SECONDS = 15;

/**
 * Keeps a folder in step with a list. What is there is not fetched again, whatever its title is by now; what was cut continues. An
 * entry that fails does not stop the others.
 * @throws ReelayError for a list that cannot be read, a folder that is in use or cannot be written, and an instance that does not
 * respond; or the reason of the signal
 */
export async function syncList(client: Client, options: SyncOptions): Promise<SyncSummary> {
  const { link, folder, selection, isLibrary, deletes, limit, overwrites, onEntry, onProgress, ...waiting } = options;
  const retry = { ...waiting, maxSiteWaitSeconds: MAX_SITE_WAIT_SECONDS };
  await requireWritable(folder, mkdir(folder, { recursive: true }));
  const release = await lockFolder(folder);
  try {
    const { places, offsets, isIncomplete } = await readList(client, link, limit, waiting);
    const items = places.flatMap(({ item }) => item ?? []);
    const state = await openFolderState(folder);
    const query = new URLSearchParams(selection).toString();
    const count = places.at(-1)?.number ?? 0;
    const digits = Math.max(2, String(count).length);

    const urlOf = ({ requestedUrl }: MediaInformation): string => {
      const url = requestedUrl ?? link;
      if (url === link && count > 1)
        throw new ReelayError('no-link', { message: 'Entry has no link of its own; use --format zip' });
      return url;
    };
    const locate = async (url: string) => {
      const details = await client.getDetails(url, retry).catch((error) => {
        throw isGone(error) ? new Unavailable(error) : error;
      });
      if (details.isLive) throw new ReelayError('live', { message: 'It is live, and has no end yet' });
      return { details, stream: await client.locate(url, selection, retry) };
    };

    const access = isLibrary && client.hasAccessKey ? await readAccess(client, link, offsets, waiting) : undefined;
    const updateItem = async (item: MediaInformation): Promise<Download | undefined> => {
      const url = urlOf(item);
      const signature = access?.get(url);
      if (access && signature === undefined)
        throw new ReelayError('no-link', { message: 'The instance has no link to it that works without its key' });
      const strm = client.getUrl(url, selection) + (signature === undefined ? '' : `&access=${signature}`);
      const entry = { list: link, url, selection: LIBRARY };
      const known = state.find(entry);
      const there = known && join(folder, known.file, known.file);
      if (there !== undefined && !overwrites && !(await isDue(there))) return writeLink(there, strm);
      const { details, stream } = await locate(url);
      // As the list names it: at the link itself, an episode may be called as its file.
      const naming = { title: item.title || details.title, author: item.author || details.author };
      const file = known?.file ?? libraryName(naming, url);
      if (!known) await state.adopt({ ...entry, file });
      return writeItem(client, join(folder, file, file), { url, link: strm, ...naming, details, stream }, retry);
    };

    const fetchEntry = async (item: MediaInformation, number: number): Promise<Download | undefined> => {
      const url = urlOf(item);
      const entry = { list: link, url, selection: query };
      const known = state.find(entry);
      const file = known && join(folder, known.file);
      if (file !== undefined && !overwrites && (await sizeOf(file)) !== undefined) return undefined;
      const stream = new URL((await locate(url)).stream);
      const name = titleOf(item);
      const place = String(number).padStart(digits, '0');
      // As archives number them. Files of earlier runs keep their names.
      if (name) stream.searchParams.set('name', count > 1 ? `${place} - ${name}` : name);
      return download(client, stream.href, {
        ...retry,
        overwrites,
        onProgress,
        file,
        chooseFile: async (suggested) => join(folder, await state.add(entry, suggested)),
      }).catch((error) => {
        if (state.isRebuilt && error.code === 'file-exists') return undefined;
        throw error;
      });
    };

    const entries: SyncedEntry[] = [];
    for (const { number, item, title, unavailable } of places) {
      const outcome = !item
        ? unavailable && { unavailable }
        : await (isLibrary ? updateItem(item) : fetchEntry(item, number)).then(
            (fetched) => fetched && fetched.bytes > fetched.resumedBytes && { download: fetched },
            (failure: unknown) => {
              retry.signal?.throwIfAborted();
              if (failure instanceof Unavailable) return { unavailable: failure.reason };
              if (isFinal(failure)) throw failure;
              return { failure: failure as ReelayError };
            },
          );
      const entry = { number, count, title, ...(outcome && { outcome }) };
      entries.push(entry);
      onEntry?.(entry);
    }
    const urls = new Set(items.map(({ requestedUrl }) => requestedUrl ?? link));
    const removed = state.files.filter(({ list, url }) => list === link && !urls.has(url));
    const deletedFiles = deletes && !isIncomplete ? await deleteFiles(folder, state, removed) : [];
    return { entries, deletedFiles, isIncomplete, isRebuilt: state.isDamaged };
  } finally {
    await release();
  }
}

/** An entry whose link leads to nothing that can be delivered. */
class Unavailable extends Error {
  readonly reason: ReelayError;

  constructor(reason: ReelayError) {
    super(reason.message);
    this.reason = reason;
  }
}

/** Problems that pass, as those of a premiere. */
const PASSING = ['not-started', 'bot-check'];

/** Whether an instance leaves an entry that fails like this out of its list. */
const isGone = (error: unknown): error is ReelayError =>
  error instanceof ReelayError && [404, 415].includes(error.status ?? 0) && !PASSING.includes(error.code);

interface PlaceInList {
  /** From 1. */
  readonly number: number;
  readonly title: string;
  /** Absent: it is not available. */
  readonly item?: MediaInformation;
  readonly unavailable?: ReelayError;
}

/** The places of a list, page by page. Entries are mostly unresolved: each is resolved when it is fetched. */
async function readList(client: Client, link: string, limit = Number.POSITIVE_INFINITY, retry: RetryOptions) {
  const places: PlaceInList[] = [];
  const offsets: number[] = [];
  for (let offset = 0; ; ) {
    offsets.push(offset);
    let counts: PlaylistCounts | undefined;
    const options = { ...retry, offset, maxEntryWaitSeconds: 0 };
    const onHeaders = (headers: Headers) => {
      counts = playlistCountsOf(headers);
    };
    const { mediaItems } = await client.resolve(link, { ...options, onHeaders });
    const { unavailable = [], isCut = false, next } = counts ?? {};
    // Older instances do not report the reasons.
    const details = unavailable.length > 0 ? await client.getDetails(link, options).catch(() => undefined) : undefined;
    const gone = new Map(details?.unavailable?.map((entry) => [entry.number, entry]));
    const items = (mediaItems ?? []).values();
    for (let number = offset + 1; number <= offset + (mediaItems ?? []).length + unavailable.length; number++) {
      if (unavailable.includes(number)) {
        const { title, url, reason } = gone.get(number) ?? {};
        const failure = new ReelayError(reason ?? 'unavailable', reason ? {} : { message: 'No reason is known' });
        places.push({ number, title: title || (url ?? 'Not available'), unavailable: failure });
      } else {
        const { value: item } = items.next();
        if (item) places.push({ number, title: item.title || (item.requestedUrl ?? ''), item });
      }
    }
    const isLast = next === undefined || next <= offset || places.length >= limit;
    if (isLast) {
      const kept = places.slice(0, limit);
      // What is unavailable now may be there later.
      const isIncomplete = isCut || kept.length < places.length || kept.some((place) => place.unavailable);
      return { places: kept, offsets, isIncomplete };
    }
    offset = next;
  }
}

/** The signature of each entry's link, which works at a private instance without its key. */
async function readAccess(
  client: Client,
  link: string,
  offsets: readonly number[],
  retry: RetryOptions,
): Promise<ReadonlyMap<string, string>> {
  const lines: string[] = [];
  for (const offset of offsets) {
    const feed = await client.getFeed(link, 'm3u8', { ...retry, offset });
    lines.push(...feed.split('\n').filter((line) => /^[^#\s]/.test(line)));
  }
  const queries = lines.map((line) => new URL(line, client.instance).searchParams);
  return new Map(queries.map((query) => [query.get('url') ?? '', query.get('access') ?? '']));
}

async function deleteFiles(folder: string, state: FolderState, removed: readonly FolderFile[]): Promise<string[]> {
  for (const entry of removed) {
    const path = join(folder, entry.file);
    if (entry.selection === LIBRARY) await removeItem(join(path, entry.file));
    else
      for (const file of [path, `${path}.part`, `${path}.part.json`])
        await requireWritable(file, rm(file, { force: true }));
    await state.remove(entry);
  }
  return removed.map(({ file }) => join(folder, file));
}
