import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaInformation, Selection } from '../api-types.ts';
import type { Client } from '../client.ts';
import { ReelayError } from '../failure.ts';
import { type Download, type DownloadProgress, download, requireWritable, sizeOf } from '../files/index.ts';
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
  /** Absent: the file was there already. */
  readonly outcome?: { readonly download: Download } | { readonly failure: ReelayError };
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
  const { link, folder, selection, isLibrary, deletes, overwrites, onEntry, onProgress, ...waiting } = options;
  const retry = { ...waiting, maxSiteWaitSeconds: MAX_SITE_WAIT_SECONDS };
  await requireWritable(folder, mkdir(folder, { recursive: true }));
  const release = await lockFolder(folder);
  try {
    const { items, isIncomplete } = await readList(client, link, waiting);
    const state = await openFolderState(folder);
    const query = new URLSearchParams(selection).toString();
    const places = new Map(items.map(({ requestedUrl }, index) => [requestedUrl ?? link, index + 1]));
    const digits = Math.max(2, String(items.length).length);
    // Numbers sort files in the order of the list. Not where entries were added before existing files: those keep their numbers.
    const isNumbered =
      items.length > 1 &&
      state.files.every(({ list, url, file }) => {
        const place = list === link ? places.get(url) : undefined;
        return place === undefined || place === Number.parseInt(file, 10);
      });

    const urlOf = ({ requestedUrl }: MediaInformation): string => {
      const url = requestedUrl ?? link;
      if (url === link && items.length > 1)
        throw new ReelayError('no-link', { message: 'Entry has no link of its own; use --format zip' });
      return url;
    };
    const locate = async (url: string) => {
      const details = await client.getDetails(url, retry);
      if (details.isLive) throw new ReelayError('live', { message: 'It is live, and has no end yet' });
      return { details, stream: await client.locate(url, selection, retry) };
    };

    const access = isLibrary && client.hasAccessKey ? await readAccess(client, link, waiting) : undefined;
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

    const fetchEntry = async (item: MediaInformation): Promise<Download | undefined> => {
      const url = urlOf(item);
      const entry = { list: link, url, selection: query };
      const known = state.find(entry);
      const file = known && join(folder, known.file);
      if (file !== undefined && !overwrites && (await sizeOf(file)) !== undefined) return undefined;
      const stream = new URL((await locate(url)).stream);
      const name = titleOf(item);
      const place = String(places.get(url)).padStart(digits, '0');
      if (name) stream.searchParams.set('name', isNumbered ? `${place} - ${name}` : name);
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
    for (const [index, item] of items.entries()) {
      const outcome = await (isLibrary ? updateItem(item) : fetchEntry(item)).then(
        (fetched) => fetched && fetched.bytes > fetched.resumedBytes && { download: fetched },
        (failure: unknown) => {
          retry.signal?.throwIfAborted();
          if (isFinal(failure)) throw failure;
          return { failure: failure as ReelayError };
        },
      );
      const place = { number: index + 1, count: items.length, title: item.title || (item.requestedUrl ?? '') };
      const entry = { ...place, ...(outcome && { outcome }) };
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

/** The entries of a list, mostly unresolved: each is resolved when it is fetched. */
async function readList(client: Client, link: string, retry: RetryOptions) {
  let playlist = '';
  const { mediaItems } = await client.resolve(link, {
    ...retry,
    maxEntryWaitSeconds: 1,
    onHeaders: (headers) => {
      playlist = headers.get('x-playlist') ?? '';
    },
  });
  // The list also has the entries beyond the limit of the instance, and those that are unavailable for now.
  return { items: mediaItems ?? [], isIncomplete: /\b(?:cut|unavailable)\b/.test(playlist) };
}

/** The signature of each entry's link, which works at a private instance without its key. */
async function readAccess(client: Client, link: string, retry: RetryOptions): Promise<ReadonlyMap<string, string>> {
  const lines = (await client.getFeed(link, 'm3u8', retry)).split('\n').filter((line) => /^[^#\s]/.test(line));
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
