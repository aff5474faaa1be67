import { downloadWithBrowser } from './browser-download.ts';
import type { Sink } from './sink.ts';

const FOLDER = 'downloads';
/** A part is complete on disk once it is closed: at most this much is lost with the page. */
const PART_BYTES = 16_000_000;
const PART_AGE_MS = 3000;

/** A sink that another page can continue. */
export interface StorageSink extends Sink {
  readonly kind: 'storage';
  /** Name of its folder in the browser's storage. */
  readonly id: string;
  /** Bytes that an earlier page had saved. */
  readonly savedBytes: number;
}

/**
 * Writes to the origin private file system and hands the complete file to the browser's downloads: for browsers
 * without a file picker. The file is kept in parts, which survive the page; memory holds one chunk.
 * @param id continues the parts of an earlier page
 * @returns undefined without such storage or enough quota
 */
export async function openStorageSink(
  fileName: string,
  expectedBytes = 0,
  id: string = crypto.randomUUID(),
): Promise<StorageSink | undefined> {
  try {
    const { quota = 0, usage = 0 } = await navigator.storage.estimate();
    // Some browsers write to a swap file first, which needs the same space again.
    if (quota - usage < expectedBytes * 2) return undefined;
    const downloads = await downloadsFolder();
    const release = await holdLock(id);
    if (!release) return undefined;
    const folder = await downloads.getDirectoryHandle(id, { create: true });
    if (!(await canWrite(folder))) {
      await downloads.removeEntry(id, { recursive: true });
      release();
      return undefined;
    }
    return await storageSink(fileName, id, folder, async () => {
      release();
      await downloads.removeEntry(id, { recursive: true });
    });
  } catch {
    // Private windows and old browsers have no such storage.
    return undefined;
  }
}

/**
 * Removes files that closed pages left in storage. Call at page start.
 * @param keep ids of downloads that will be continued
 */
export async function sweepStorage(keep: ReadonlySet<string> = new Set()): Promise<void> {
  try {
    const folder = await downloadsFolder();
    for await (const name of folder.keys()) {
      if (keep.has(name)) continue;
      await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
        // One download that cannot be removed must not keep the others.
        if (lock) await folder.removeEntry(name, { recursive: true }).catch(() => undefined);
      });
    }
  } catch {
    // No folder, or no access.
  }
}

const downloadsFolder = async () =>
  (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });

async function canWrite(folder: FileSystemDirectoryHandle): Promise<boolean> {
  const handle = await folder.getFileHandle('probe', { create: true });
  await folder.removeEntry('probe');
  return 'createWritable' in handle;
}

async function storageSink(
  fileName: string,
  id: string,
  folder: FileSystemDirectoryHandle,
  remove: () => Promise<void>,
): Promise<StorageSink> {
  let files = await partsOf(folder);
  let open: { stream: FileSystemWritableFileStream; bytes: number; since: number } | undefined;
  let number = files.length;

  const closePart = async () => {
    await open?.stream.close();
    open = undefined;
  };
  return {
    kind: 'storage',
    id,
    savedBytes: files.reduce((sum, { size }) => sum + size, 0),
    async write(bytes) {
      if (!open) {
        const handle = await folder.getFileHandle(partName(number++), { create: true });
        open = { stream: await handle.createWritable(), bytes: 0, since: performance.now() };
      }
      await open.stream.write(bytes);
      open.bytes += bytes.length;
      if (open.bytes >= PART_BYTES || performance.now() - open.since >= PART_AGE_MS) await closePart();
    },
    flush: closePart,
    async restart() {
      await open?.stream.abort();
      open = undefined;
      for await (const name of folder.keys()) await folder.removeEntry(name);
      number = 0;
    },
    async close() {
      await closePart();
      files = await partsOf(folder);
      // The blob refers to the files on disk. The browser copies it, perhaps after asking for a location, and reports
      // no end: the URL therefore stays valid for the life of the page.
      downloadWithBrowser(URL.createObjectURL(new Blob(files)), fileName);
    },
    async abort() {
      try {
        await open?.stream.abort();
      } finally {
        await remove();
      }
    },
  };
}

const partName = (number: number): string => String(number).padStart(6, '0');

/** The complete parts in order; a swap file of a part that was being written is ignored. */
async function partsOf(folder: FileSystemDirectoryHandle): Promise<File[]> {
  const names: string[] = [];
  for await (const name of folder.keys()) if (/^\d+$/.test(name)) names.push(name);
  return Promise.all(names.sort().map(async (name) => (await folder.getFileHandle(name)).getFile()));
}

/** Marks a download as in use for the life of the page. @returns a function that releases it; undefined when taken */
function holdLock(name: string): Promise<(() => void) | undefined> {
  return new Promise((resolve, reject) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (lock) =>
        lock ? new Promise<void>((release) => resolve(release)) : resolve(undefined),
      )
      .catch(reject);
  });
}
