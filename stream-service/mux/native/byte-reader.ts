import { finished, type Readable } from 'node:stream';
import { appendChunk } from '../../../core/egress/client/index.ts';
import type { FileSource } from '../../source/index.ts';

/** Reading and discarding up to so many bytes costs less than another upstream request. */
const MAX_SKIPPED_BYTES = 256 * 1024;

export interface ByteReaderOptions {
  /**
   * Offset where a read of the source that starts at `position` ends. Bytes beyond it are read when they are taken.
   * @default the end of the file
   */
  readonly readEnd?: (position: number) => number;
}

/**
 * Reads a file at a position that advances with the bytes taken. Holds at most one chunk of the source's stream, which
 * is paused until the chunk is taken.
 */
export class ByteReader {
  /** Bytes of the file. */
  readonly size: number;
  readonly #source: FileSource;
  readonly #readEnd: (position: number) => number;
  /** Offset where the current stream ends. */
  #streamEnd = 0;
  /** Bytes that `read` waits for. */
  #missingBytes = 0;
  #position = 0;
  #stream: Readable | undefined;
  #chunk: Buffer | undefined;
  /** Bytes of the stream to discard. */
  #skipBytes = 0;
  #failure: Error | undefined;
  #onChange: () => void = () => undefined;
  #resolveChange: () => void = () => undefined;

  constructor(source: FileSource & { readonly size: number }, { readEnd = () => source.size }: ByteReaderOptions = {}) {
    this.#source = source;
    this.#readEnd = readEnd;
    this.size = source.size;
  }

  /** Offset of the next byte. */
  get position(): number {
    return this.#position;
  }

  /** Called when bytes have arrived, the stream has ended or it has failed. */
  set onChange(listener: () => void) {
    this.#onChange = listener;
  }

  /** Moves to another position: by discarding bytes when it is near, else by a new read of the source. */
  seek(position: number): void {
    const distance = position - this.#position;
    this.#position = position;
    if (distance === 0 || !(this.#stream || this.#chunk)) return;
    if (distance < 0 || distance + this.#skipBytes > MAX_SKIPPED_BYTES) this.#closeStream();
    else {
      this.#skipBytes += distance;
      if (this.#chunk) this.#keep(this.#chunk);
    }
  }

  /**
   * Up to `maxBytes` of the current chunk, not copied; undefined while there is none: `onChange` follows.
   * @throws Error the source's failure, or that it ended early
   */
  take(maxBytes: number): Buffer | undefined {
    const chunk = this.#chunk;
    if (!chunk) {
      if (this.#failure) throw this.#failure;
      this.#startFlow();
      return undefined;
    }
    this.#chunk = chunk.length > maxBytes ? chunk.subarray(maxBytes) : undefined;
    const taken = chunk.length > maxBytes ? chunk.subarray(0, maxBytes) : chunk;
    this.#position += taken.length;
    return taken;
  }

  /** Exactly so many bytes; copied when they come in several chunks. @throws as `take` */
  async read(bytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    this.#missingBytes = bytes;
    for (let missing = bytes; missing > 0; ) {
      const chunk = this.take(missing);
      if (chunk) appendChunk(chunks, chunk);
      else await this.#changed();
      missing -= chunk?.length ?? 0;
      this.#missingBytes = missing;
    }
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes);
  }

  /** Settles when `take` has bytes. @throws as `take` */
  async ready(): Promise<void> {
    while (!this.#chunk) {
      if (this.#failure) throw this.#failure;
      this.#startFlow();
      await this.#changed();
    }
  }

  /** Ends reading. Pending and later reads fail. */
  destroy(): void {
    this.#failure ??= new Error('Reader destroyed');
    this.#closeStream();
    this.#notify();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolveChange = resolve;
    });
  }

  #notify(): void {
    this.#resolveChange();
    this.#onChange();
  }

  #startFlow(): void {
    if (this.#stream) {
      if (this.#stream.isPaused()) this.#stream.resume();
      return;
    }
    if (this.#position >= this.size) {
      this.#failure = new Error('The file ends before what its header describes');
      throw this.#failure;
    }
    const streamEnd = Math.min(
      this.size,
      Math.max(this.#readEnd(this.#position), this.#position + Math.max(1, this.#missingBytes)),
    );
    const stream = this.#source.read(this.#position, streamEnd === this.size ? undefined : streamEnd - 1);
    this.#stream = stream;
    this.#streamEnd = streamEnd;
    this.#skipBytes = 0;
    stream.on('data', (chunk: Buffer) => {
      if (this.#stream !== stream) return;
      this.#keep(chunk);
      if (this.#chunk) this.#notify();
      if (this.#chunk) stream.pause(); // not taken by the listener
    });
    finished(stream, { writable: false }, (error) => {
      if (this.#stream !== stream) return;
      // A complete stream is no failure: the chunk that is left can be taken, and another position can be read.
      this.#stream = undefined;
      const end = this.#position - this.#skipBytes + (this.#chunk?.length ?? 0);
      if (error || end < this.#streamEnd) this.#failure = error ?? new Error('The source ended early');
      this.#notify();
    });
  }

  #keep(chunk: Buffer): void {
    const skipped = Math.min(this.#skipBytes, chunk.length);
    this.#skipBytes -= skipped;
    this.#chunk = skipped < chunk.length ? chunk.subarray(skipped) : undefined;
  }

  #closeStream(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    this.#chunk = undefined;
    this.#skipBytes = 0;
    stream?.on('error', () => undefined).destroy();
  }
}
