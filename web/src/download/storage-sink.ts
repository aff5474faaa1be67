import { downloadWithBrowser } from './browser-download.ts';
import type { Sink } from './sink.ts';

const FOLDER = 'downloads';

/**
 * Writes to the origin private file system and hands the complete file to the browser's downloads: for browsers
 * without a file picker. Holds one chunk in memory.
 * @returns undefined without such storage or enough quota
 */
export async function openStorageSink(fileName: string, expectedBytes = 0): Promise<Sink | undefined> {
  try {
    const { quota = 0, usage = 0 } = await navigator.storage.estimate();
    // Some browsers write to a swap file first, which needs the same space again.
    if (quota - usage < expectedBytes * 2) return undefined;
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });
    const name = crypto.randomUUID();
    const release = await holdLock(name);
    const handle = await folder.getFileHandle(name, { create: true });
    if (!('createWritable' in handle)) {
      await folder.removeEntry(name);
      release();
      return undefined;
    }
    return storageSink(fileName, handle, async () => {
      release();
      await folder.removeEntry(name);
    });
  } catch {
    // Private windows and old browsers have no such storage.
    return undefined;
  }
}

/** Removes files that closed pages left in storage. Call at page start. */
export async function sweepStorage(): Promise<void> {
  try {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER);
    for await (const name of folder.keys()) {
      // Chromium lists its swap file too: `name.crswap` is in use as long as `name` is.
      const [file = name] = name.split('.', 1);
      await navigator.locks.request(file, { ifAvailable: true }, async (lock) => {
        // One file that cannot be removed must not keep the others.
        if (lock) await folder.removeEntry(name).catch(() => undefined);
      });
    }
  } catch {
    // No folder, or no access.
  }
}

async function storageSink(fileName: string, handle: FileSystemFileHandle, remove: () => Promise<void>): Promise<Sink> {
  const stream = await handle.createWritable();
  return {
    kind: 'storage',
    write: (bytes) => stream.write(bytes),
    async restart() {
      await stream.truncate(0);
      await stream.seek(0);
    },
    async close() {
      await stream.close();
      // The browser copies the file, perhaps after asking for a location, and reports no end. The URL therefore stays
      // valid for the life of the page; it refers to the file on disk, not to memory.
      downloadWithBrowser(URL.createObjectURL(await handle.getFile()), fileName);
    },
    async abort() {
      try {
        await stream.abort();
      } finally {
        await remove();
      }
    },
  };
}

/** Marks the file as in use for the life of the page. @returns a function that releases it */
function holdLock(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    navigator.locks.request(name, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}
