import { downloadWithBrowser } from './browser-download.ts';
import type { Sink } from './sink.ts';

const FOLDER = 'downloads';

/**
 * A file in the browser's own storage (the origin private file system), handed to its downloads once complete: for
 * browsers without a picker. Memory holds a chunk at a time.
 * @returns undefined where there is no such storage, or too little
 */
export async function openStorageSink(fileName: string, expectedBytes = 0): Promise<Sink | undefined> {
  try {
    const { quota = 0, usage = 0 } = await navigator.storage.estimate();
    // Written beside the file first, in some browsers: room for both.
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
    // A private window or an old browser: the plain download is left.
    return undefined;
  }
}

/** Removes what closed pages left in the browser's storage. For the start of a page. */
export async function sweepStorage(): Promise<void> {
  try {
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle(FOLDER);
    for await (const name of folder.keys()) {
      // Chromium shows what it writes beside a file, too: `name.crswap` is in use as long as `name` is.
      const [file = name] = name.split('.', 1);
      await navigator.locks.request(file, { ifAvailable: true }, async (lock) => {
        // What is gone by then, or held after all, is no reason to leave the others.
        if (lock) await folder.removeEntry(name).catch(() => undefined);
      });
    }
  } catch {
    // Nothing there, or nothing that could be swept.
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
      // The browser copies it, maybe after asking where to, and nothing says when it has. So the address is good for as
      // long as the page is: it stands for a file on the disk, which is kept until then anyway.
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

/** Says for as long as this page lives that the file is in use. @returns what ends that */
function holdLock(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    navigator.locks.request(name, () => new Promise<void>((release) => resolve(release))).catch(reject);
  });
}
