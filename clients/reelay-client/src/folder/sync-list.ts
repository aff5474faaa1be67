import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, MediaInformation, Selection } from '../client.ts';
import { ReelayError } from '../failure.ts';
import { type Download, type DownloadProgress, download, requireWritable, sizeOf } from '../files/index.ts';
import type { RetryOptions } from '../retry.ts';
import { lockFolder } from './folder-lock.ts';
import { type FolderFile, type FolderState, openFolderState } from './folder-state.ts';

export interface SyncOptions extends RetryOptions {
  readonly link: string;
  readonly folder: string;
  readonly selection: Selection;
  /** Removes files of entries that the list no longer has. */
  readonly deletes?: boolean | undefined;
  /** Fetches files again that are there. */
  readonly overwrites?: boolean | undefined;
  readonly onEntry?: ((entry: SyncedEntry) => void) | undefined;
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
}

/** What has become of an entry. */
export interface SyncedEntry {
  /** Place in the list, from 1, of so many. */
  readonly number: number;
  readonly count: number;
  readonly title: string;
  /** Absent: it was there already. */
  readonly outcome?: { readonly download: Download } | { readonly failure: ReelayError };
}

export interface SyncSummary {
  readonly entries: readonly SyncedEntry[];
  readonly deletedFiles: readonly string[];
  /** The list may have more than is known of it: nothing was deleted. */
  readonly isIncomplete: boolean;
  /** The state of the folder was damaged. */
  readonly isRebuilt: boolean;
}

/** Other entries would fail as this one has: what is temporary of these has been waited out. */
const FINAL_FAILURES = ['not-writable', 'unreachable', 'unauthorized', 'maintenance', 'starting', 'busy', 'too-many'];

/** An entry whose site fails for longer is left to the next run. */
const MAX_SITE_WAIT_SECONDS = 15;

/**
 * Keeps a folder in step with a list. What is there is not fetched again, whatever its title is by now; what was cut continues. An
 * entry that fails does not stop the others.
 * @throws ReelayError for a list that cannot be read, a folder that is in use or cannot be written, and an instance that does not
 * respond; or the reason of the signal
 */
export async function syncList(client: Client, options: SyncOptions): Promise<SyncSummary> {
  const { link, folder, selection, deletes, overwrites, onEntry, onProgress, ...waiting } = options;
  const retry = { ...waiting, maxSiteWaitSeconds: MAX_SITE_WAIT_SECONDS };
  await requireWritable(folder, mkdir(folder, { recursive: true }));
  const release = await lockFolder(folder);
  try {
    const { items, isIncomplete } = await readList(client, link, waiting);
    const state = await openFolderState(folder);
    const query = new URLSearchParams(selection).toString();

    const fetchEntry = async ({ requestedUrl, title, author }: MediaInformation): Promise<Download | undefined> => {
      const url = requestedUrl ?? link;
      if (url === link && items.length > 1)
        throw new ReelayError('no-link', { message: 'It has no link of its own; --format zip has it' });
      const entry = { list: link, url, selection: query };
      const known = state.find(entry);
      const file = known && join(folder, known.file);
      if (file !== undefined && !overwrites && (await sizeOf(file)) !== undefined) return undefined;
      const { isLive } = await client.getDetails(url, retry);
      if (isLive) throw new ReelayError('live', { message: 'It is live, and has no end yet' });
      const stream = new URL(await client.locate(url, selection, retry));
      // As the list names it: at the link itself, an episode may be called as its file.
      const name = title && author && !title.includes(author) ? `${author} - ${title}` : title;
      if (name) stream.searchParams.set('name', name);
      const isAdopted = (error: unknown) =>
        state.isRebuilt && error instanceof ReelayError && error.code === 'file-exists';
      return download(client, stream.href, {
        ...{ ...retry, overwrites, onProgress, file },
        chooseFile: async (suggested) => join(folder, await state.add(entry, suggested)),
      }).catch((error) => {
        if (isAdopted(error)) return undefined;
        throw error;
      });
    };

    const entries: SyncedEntry[] = [];
    for (const [index, item] of items.entries()) {
      const outcome = await fetchEntry(item).then(
        (fetched) => fetched && fetched.bytes > fetched.resumedBytes && { download: fetched },
        (failure: unknown) => {
          retry.signal?.throwIfAborted();
          if (!(failure instanceof ReelayError) || FINAL_FAILURES.includes(failure.code)) throw failure;
          return { failure };
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

/** Entries as they are listed: each is resolved when it is its turn. */
async function readList(client: Client, link: string, retry: RetryOptions) {
  let playlist = '';
  const { mediaItems } = await client.resolve(link, {
    ...retry,
    maxEntryWaitSeconds: 1,
    onHeaders: (headers) => {
      playlist = headers.get('x-playlist') ?? '';
    },
  });
  // Entries beyond the limit of the instance, or that are unavailable for now, are in the list all the same.
  return { items: mediaItems ?? [], isIncomplete: /\b(?:cut|unavailable)\b/.test(playlist) };
}

async function deleteFiles(folder: string, state: FolderState, removed: readonly FolderFile[]): Promise<string[]> {
  for (const entry of removed) {
    const path = join(folder, entry.file);
    for (const file of [path, `${path}.part`, `${path}.part.json`])
      await requireWritable(file, rm(file, { force: true }));
    await state.remove(entry);
  }
  return removed.map(({ file }) => join(folder, file));
}
