import { downloadWithBrowser } from './browser-download.ts';
import type { Sink } from './sink.ts';
import { openStorageSink } from './storage-sink.ts';

export { sweepStorage } from './storage-sink.ts';

/** The browser downloads by itself, where the page has no place to write. */
export interface BrowserDownload {
  readonly kind: 'browser';
  start(url: string): void;
}

/**
 * Call it in a click handler: pickers require user activation.
 * @param expectedBytes skips storage that is too small
 * @param id names the download in the browser's storage
 * @throws DOMException `AbortError` when the user dismisses the picker
 */
export type OpenSink = (fileName: string, expectedBytes?: number, id?: string) => Promise<Sink | BrowserDownload>;

/** File System Access API, missing in the DOM types. */
interface Pickers {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
  showDirectoryPicker?(options: { id: string; mode: 'readwrite' }): Promise<FileSystemDirectoryHandle>;
}

const pickers = globalThis as Pickers;

/** Uses the best available destination: a picker, the browser's storage, or a plain download. */
export const openSink: OpenSink = async (fileName, expectedBytes, id) => {
  if (!pickers.showSaveFilePicker) return openWithoutPicker(fileName, expectedBytes, id);
  try {
    return await fileSink(await pickers.showSaveFilePicker({ suggestedName: fileName }));
  } catch (error) {
    // A frame or permissions policy may forbid the picker; dismissing it cancels.
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return openWithoutPicker(fileName, expectedBytes, id);
  }
};

/**
 * Asks once for the folder of several files, in a click handler. Without a folder picker, files go through the
 * browser's storage to its downloads.
 * @throws DOMException `AbortError` when the user dismisses the picker
 */
export async function chooseFolder(): Promise<OpenSink> {
  if (!pickers.showDirectoryPicker) return openWithoutPicker;
  try {
    const folder = await pickers.showDirectoryPicker({ id: 'downloads', mode: 'readwrite' });
    return async (fileName) => {
      const free = await freeName(folder, fileName);
      const handle = await folder.getFileHandle(free, { create: true });
      return fileSink(handle, () => folder.removeEntry(free));
    };
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return openWithoutPicker;
  }
}

/** Whether `openSink` needs user activation. */
export const hasFilePicker = (): boolean => pickers.showSaveFilePicker !== undefined;

/** Needs no user activation: the browser's storage, else a plain download. */
export const openWithoutPicker: OpenSink = async (fileName, expectedBytes, id) =>
  (await openStorageSink(fileName, expectedBytes, id)) ?? {
    kind: 'browser',
    start: (url) => downloadWithBrowser(url, fileName),
  };

/** Writes to a file chosen by the user. The browser writes to a swap file until `close`. */
export async function fileSink(handle: FileSystemFileHandle, remove?: () => Promise<void>): Promise<Sink> {
  const stream = await handle.createWritable();
  return {
    kind: 'file',
    write: (bytes) => stream.write(bytes),
    async restart() {
      await stream.truncate(0);
      await stream.seek(0);
    },
    close: () => stream.close(),
    async abort() {
      try {
        await stream.abort();
      } finally {
        // Removes only a file created for this download.
        await (remove ?? (() => removeEmpty(handle)))();
      }
    },
  };
}

/** The name, or the first free `name (2).ext` of the folder. */
export async function freeName(folder: FileSystemDirectoryHandle, fileName: string): Promise<string> {
  const [, stem = fileName, extension = ''] = /^(.*?)(\.[^.]*)?$/s.exec(fileName) ?? [];
  for (let number = 1; ; number++) {
    const name = number === 1 ? fileName : `${stem} (${number})${extension}`;
    try {
      await folder.getFileHandle(name);
    } catch (error) {
      if (error instanceof DOMException && error.name === 'NotFoundError') return name;
      if (!(error instanceof DOMException && error.name === 'TypeMismatchError')) throw error;
    }
  }
}

/** Removes the empty file that the picker created. */
async function removeEmpty(handle: FileSystemFileHandle & { remove?: () => Promise<void> }): Promise<void> {
  const { size } = await handle.getFile();
  if (size === 0) await handle.remove?.();
}
