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
