/** Where the bytes of one download go. One call at a time. */
export interface Sink {
  /** `file`: a file the user chose. `storage`: the browser's own storage, handed out as a file at the end. */
  readonly kind: 'file' | 'storage';
  /** Settles when there is room for more: whoever waits for it never holds more than a chunk. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Forgets what was written: the next byte is the first again. */
  restart(): Promise<void>;
  /** All is written: the file is there. */
  close(): Promise<void>;
  /** Leaves nothing behind. */
  abort(): Promise<void>;
}

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

/** The best place that this browser has for one file: a picker, else its own storage, else a plain download. */
export const openSink: OpenSink = async (fileName) => {
  throw new Error(fileName);
};

/**
 * Asks once where the files of a list go, inside a click. Where there is no picker of folders, each goes to the
 * browser's storage and from there to its downloads.
 * @throws DOMException `AbortError` when the user chooses nothing
 */
export async function chooseFolder(): Promise<OpenSink> {
  return openSink;
}

/** Removes what closed pages left in the browser's storage. For the start of a page. */
export async function sweepStorage(): Promise<void> {
  return undefined;
}
