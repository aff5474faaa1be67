import { downloadWithBrowser } from './browser-download.ts';
import type { Sink } from './sink.ts';
import { openStorageSink } from './storage-sink.ts';

export { sweepStorage } from './storage-sink.ts';

/** The browser downloads by itself: it has no place that the page could write to. */
export interface BrowserDownload {
  readonly kind: 'browser';
  start(url: string): void;
}

/**
 * Must be called inside a click: browsers show a picker only then.
 * @param expectedBytes lets storage that is too small be passed over
 * @throws DOMException `AbortError` when the user chooses nothing
 */
export type OpenSink = (fileName: string, expectedBytes?: number) => Promise<Sink | BrowserDownload>;

/** What Chromium has and the standard library's types do not know yet (File System Access). */
interface Pickers {
  showSaveFilePicker?(options: { suggestedName: string }): Promise<FileSystemFileHandle>;
  showDirectoryPicker?(options: { id: string; mode: 'readwrite' }): Promise<FileSystemDirectoryHandle>;
}

const pickers = globalThis as Pickers;

/** The best place that this browser has for one file: a picker, else its own storage, else a plain download. */
export const openSink: OpenSink = async (fileName, expectedBytes) => {
  if (!pickers.showSaveFilePicker) return openWithoutPicker(fileName, expectedBytes);
  try {
    return await fileSink(await pickers.showSaveFilePicker({ suggestedName: fileName }));
  } catch (error) {
    // A frame or a policy may forbid it; that the user chose nothing is an answer.
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    return openWithoutPicker(fileName, expectedBytes);
  }
};

/**
 * Asks once where the files of a list go, inside a click. Where there is no picker of folders, each goes to the
 * browser's storage and from there to its downloads.
 * @throws DOMException `AbortError` when the user chooses nothing
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

const openWithoutPicker: OpenSink = async (fileName, expectedBytes) =>
  (await openStorageSink(fileName, expectedBytes)) ?? {
    kind: 'browser',
    start: (url) => downloadWithBrowser(url, fileName),
  };

/** A file that the user chose. Until it is closed the browser keeps what is written beside it. */
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
        // What was there before the download keeps its content; what it made goes.
        await (remove ?? (() => removeEmpty(handle)))();
      }
    },
  };
}

/** The name, or the first `name (2).ext` that no file of the folder has. */
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

/** The picker has made a file of no bytes: without its download it is litter. */
async function removeEmpty(handle: FileSystemFileHandle & { remove?: () => Promise<void> }): Promise<void> {
  const { size } = await handle.getFile();
  if (size === 0) await handle.remove?.();
}
