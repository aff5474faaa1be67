/** Destination of one download's bytes. Calls must not overlap. */
export interface Sink {
  /** `file`: chosen by the user. `storage`: the browser's own storage, handed to its downloads when complete. */
  readonly kind: 'file' | 'storage';
  /** Settles when the next chunk may be written, which bounds memory to one chunk. */
  write(bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Makes what was written survive the page, where the sink can. */
  flush?(): Promise<void>;
  /** Discards what was written. */
  restart(): Promise<void>;
  /** Completes the file. */
  close(): Promise<void>;
  /** Removes the file. */
  abort(): Promise<void>;
}
