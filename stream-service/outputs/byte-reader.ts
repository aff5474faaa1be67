import { finished, type Readable } from 'node:stream';
import type { FileSource } from '@reelay/source';

export type SizedFile = FileSource & { readonly size: number };

/** Reading and discarding up to this many bytes costs less than another upstream request. */
const MAX_SKIPPED_BYTES = 256 * 1024;
/** Beyond this, the source's stream is paused: pausing it for every chunk costs as much as reading it. */
const MAX_BUFFERED_BYTES = 128 * 1024;

/**
 * Reads a file at a position that advances with the bytes taken. Holds a few chunks of the source's stream, which is
 * paused until they are taken.
 */
export class ByteReader {
  readonly file: SizedFile;
  /** Bytes of the file. */
  readonly size: number;
  /** Offset where a read that starts at `position` ends. Bytes beyond it are read when they are taken. */
  readEnd: (position: number) => number;
  /** Offset where the current stream ends. */
  #streamEnd = 0;
  /** Bytes that `read` waits for. */
  #missingBytes = 0;
  #position = 0;
  #stream: Readable | undefined;
  /** Bytes from the position on, in order. */
  readonly #chunks: Buffer[] = [];
  #bufferedBytes = 0;
  /** Bytes of the stream to discard. */
  #skipBytes = 0;
  #failure: Error | undefined;
  #resolveChange: () => void = () => undefined;

  /** @param readEnd as the property. @default the end of the file */
  constructor(file: SizedFile, readEnd: ByteReader['readEnd'] = () => file.size) {
    this.file = file;
    this.size = file.size;
    this.readEnd = readEnd;
  }

  /** Whether a position is reached by discarding bytes. */
  isNear(position: number): boolean {
    const distance = position - this.#position;
    return distance >= 0 && distance + this.#skipBytes <= MAX_SKIPPED_BYTES;
  }

  /** Moves to another position: by discarding bytes when it is near, else by a new read of the source. */
  seek(position: number): void {
    const distance = position - this.#position;
    const isNear = this.isNear(position);
    this.#position = position;
    if (distance === 0 || !(this.#stream || this.#bufferedBytes > 0)) return;
    if (!isNear) this.#closeStream();
    else {
      this.#skipBytes += distance;
      this.#skip();
    }
  }

  /**
   * Up to `maxBytes` of the current chunk, not copied; undefined while there is none: `ready` waits for it.
   * @throws Error the source's failure, or that it ended early
   */
  take(maxBytes: number): Buffer | undefined {
    const [chunk] = this.#chunks;
    if (!chunk) {
      if (this.#failure) throw this.#failure;
      this.#startFlow();
      return undefined;
    }
    const taken = chunk.length > maxBytes ? chunk.subarray(0, maxBytes) : chunk;
    this.#discard(taken.length);
    this.#position += taken.length;
    return taken;
  }

  /**
   * Exactly this many bytes; copied when they arrive in several chunks: each as it arrives, because copying 32 MB at once
   * takes a long turn of the event loop.
   */
  async read(bytes: number): Promise<Buffer> {
    let whole: Buffer | undefined;
    this.#missingBytes = bytes;
    while (this.#missingBytes > 0) {
      const chunk = this.take(this.#missingBytes);
      if (!chunk) await this.#changed();
      else if (chunk.length === bytes) whole = chunk;
      else {
        whole ??= Buffer.allocUnsafeSlow(bytes);
        chunk.copy(whole, bytes - this.#missingBytes);
      }
      this.#missingBytes -= chunk?.length ?? 0;
    }
    return whole ?? Buffer.alloc(0);
  }

  /** Puts bytes back that end at the position. Others have no effect. @param start their offset */
  unread(bytes: Buffer, start: number): void {
    if (start + bytes.length !== this.#position) return;
    this.#position = start;
    this.#chunks.unshift(bytes);
    this.#bufferedBytes += bytes.length;
  }

  /** Settles when `take` has bytes. */
  async ready(): Promise<void> {
    while (this.#bufferedBytes === 0) {
      if (this.#failure) throw this.#failure;
      this.#startFlow();
      await this.#changed();
    }
  }

  /** Ends reading, and closes the file. Pending and later reads fail. */
  destroy(): void {
    this.#failure ??= new Error('Reader destroyed');
    this.#closeStream();
    this.file.close();
    this.#resolveChange();
  }

  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolveChange = resolve;
    });
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
      Math.max(this.readEnd(this.#position), this.#position + Math.max(1, this.#missingBytes)),
    );
    const stream = this.file.read(this.#position, streamEnd === this.size ? undefined : streamEnd - 1);
    this.#stream = stream;
    this.#streamEnd = streamEnd;
    this.#skipBytes = 0;
    stream.on('data', (chunk: Buffer) => {
      if (this.#stream !== stream) return;
      this.#chunks.push(chunk);
      this.#bufferedBytes += chunk.length;
      this.#skip();
      if (this.#bufferedBytes > 0) this.#resolveChange();
      if (this.#bufferedBytes >= MAX_BUFFERED_BYTES) stream.pause();
    });
    finished(stream, { writable: false }, (error) => {
      if (this.#stream !== stream) return;
      // A complete stream is no failure: the chunks that are left can be taken, and another position can be read.
      this.#stream = undefined;
      const end = this.#position - this.#skipBytes + this.#bufferedBytes;
      if (error || end < this.#streamEnd) this.#failure = error ?? new Error('The source ended early');
      this.#resolveChange();
    });
  }

  /** Discards buffered bytes before the position. */
  #skip(): void {
    const skipped = Math.min(this.#skipBytes, this.#bufferedBytes);
    this.#skipBytes -= skipped;
    this.#discard(skipped);
  }

  #discard(bytes: number): void {
    this.#bufferedBytes -= bytes;
    for (let left = bytes; left > 0; ) {
      const chunk = this.#chunks.shift();
      if (!chunk) return;
      if (chunk.length > left) this.#chunks.unshift(chunk.subarray(left));
      left -= chunk.length;
    }
  }

  #closeStream(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    this.#chunks.length = 0;
    this.#bufferedBytes = 0;
    this.#skipBytes = 0;
    stream?.on('error', () => undefined).destroy();
  }
}
