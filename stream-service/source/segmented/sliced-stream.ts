import { Readable } from 'node:stream';
import { UpstreamError } from '../../../core/errors/index.ts';

export interface SlicedStreamOptions {
  /** Sent first, once the source has sent something. */
  readonly own: Buffer;
  /** Absent: nothing follows. */
  readonly source: (() => Readable) | undefined;
  /** Bytes of the source that are dropped, and that are sent then. */
  readonly skipBytes: number;
  readonly bytes: number;
  /** The source ends with them: the last ones are sent once it has, for it may turn out to be damaged. @default false */
  readonly isToEnd?: boolean;
}

const HIGH_WATER_MARK_BYTES = 64 * 1024;

/** Some bytes, and a part of a stream, which ends once that is read. */
export class SlicedStream extends Readable {
  readonly #source: Readable | undefined;
  #own: Buffer | undefined;
  #skipBytes: number;
  #leftBytes: number;
  readonly #isToEnd: boolean;
  #last: Buffer | undefined;

  constructor({ own, source, skipBytes, bytes, isToEnd = false }: SlicedStreamOptions) {
    super({ highWaterMark: HIGH_WATER_MARK_BYTES });
    this.#own = own.length > 0 ? own : undefined;
    this.#skipBytes = skipBytes;
    this.#leftBytes = bytes;
    this.#isToEnd = isToEnd;
    this.#source = bytes > 0 ? source?.() : undefined;
    this.#source
      ?.on('error', (error) => this.destroy(error))
      .on('data', (chunk: Buffer) => this.#take(chunk))
      .on('end', () => {
        if (this.#leftBytes > 0) this.destroy(new UpstreamError('The segments end early'));
        else {
          if (this.#last) this.push(this.#last);
          this.push(null);
        }
      })
      .pause();
  }

  override _read(): void {
    if (this.#source) this.#source.resume();
    else {
      this.#pushOwn();
      this.push(null);
    }
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#source?.destroy();
    callback(error);
  }

  #pushOwn(): void {
    const own = this.#own;
    this.#own = undefined;
    if (own) this.push(own);
  }

  #take(chunk: Buffer): void {
    const skipped = Math.min(this.#skipBytes, chunk.length);
    this.#skipBytes -= skipped;
    const part = chunk.subarray(skipped, skipped + this.#leftBytes);
    if (part.length === 0 || this.destroyed) return;
    this.#pushOwn();
    this.#leftBytes -= part.length;
    if (this.#leftBytes === 0 && this.#isToEnd) {
      this.#last = part;
      return;
    }
    const hasRoom = this.push(part);
    if (this.#leftBytes > 0) {
      if (!hasRoom) this.#source?.pause();
      return;
    }
    this.push(null);
    this.#source?.destroy();
  }
}
