import { finished, type Readable } from 'node:stream';
import type { FileSource } from '../../source/index.ts';

/** Skipping fewer bytes than this costs less than asking the source for another place. */
const MAX_SKIP = 256 * 1024;

/** A place in a file that moves on as bytes are taken. Holds one chunk at most. */
export class ByteReader {
  readonly size: number;
  readonly #source: FileSource;
  #position = 0;
  #stream: Readable | undefined;
  #held: Buffer | undefined;
  #skip = 0;
  #failure: Error | undefined;
  #onNews: () => void = () => undefined;
  #wake: () => void = () => undefined;

  constructor(source: FileSource & { readonly size: number }) {
    this.#source = source;
    this.size = source.size;
  }

  /** Where the next byte taken lies in the file. */
  get position(): number {
    return this.#position;
  }

  /** What to call when bytes, the end or a failure are there. */
  set onNews(act: () => void) {
    this.#onNews = act;
  }

  /** Goes to another place: by letting bytes pass, or by asking the source for it. */
  seek(position: number): void {
    const ahead = position - this.#position;
    this.#position = position;
    if (ahead === 0 || !(this.#stream || this.#held)) return;
    if (ahead < 0 || ahead + this.#skip > MAX_SKIP) this.#leave();
    else {
      this.#skip += ahead;
      if (this.#held) this.#hold(this.#held);
    }
  }

  /**
   * Up to `most` bytes, as they lie in memory; undefined while none are there: they are under way, and news will come.
   * @throws what the source failed with, or that it ended early
   */
  take(most: number): Buffer | undefined {
    const chunk = this.#held;
    if (!chunk) {
      if (this.#failure) throw this.#failure;
      this.#flow();
      return undefined;
    }
    this.#held = chunk.length > most ? chunk.subarray(most) : undefined;
    const taken = chunk.length > most ? chunk.subarray(0, most) : chunk;
    this.#position += taken.length;
    return taken;
  }

  /** Exactly so many bytes, copied together. @throws as `take` */
  async read(bytes: number): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for (let missing = bytes; missing > 0; ) {
      const chunk = this.take(missing);
      if (chunk) chunks.push(chunk);
      else await this.#news();
      missing -= chunk?.length ?? 0;
    }
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, bytes);
  }

  /** Settles when there is a byte to take. @throws as `take` */
  async ready(): Promise<void> {
    while (!this.#held) {
      if (this.#failure) throw this.#failure;
      this.#flow();
      await this.#news();
    }
  }

  destroy(): void {
    this.#failure ??= new Error('The reader has left');
    this.#leave();
    this.#tell();
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #tell(): void {
    this.#wake();
    this.#onNews();
  }

  #flow(): void {
    if (this.#stream) {
      if (this.#stream.isPaused()) this.#stream.resume();
      return;
    }
    if (this.#position >= this.size) {
      this.#failure = new Error('The file ends before what its header describes');
      throw this.#failure;
    }
    const stream = this.#source.read(this.#position);
    this.#stream = stream;
    stream.on('data', (chunk: Buffer) => {
      if (this.#stream !== stream) return;
      this.#hold(chunk);
      if (this.#held) this.#tell();
      // Nobody took it: no more until someone does.
      if (this.#held) stream.pause();
    });
    finished(stream, { writable: false }, (error) => {
      if (this.#stream !== stream) return;
      // Its end is the file's: what was read of it stays, and another place may still be asked for.
      this.#stream = undefined;
      const end = this.#position + (this.#held?.length ?? 0);
      if (error || end < this.size) this.#failure = error ?? new Error('The source ended early');
      this.#tell();
    });
  }

  #hold(chunk: Buffer): void {
    const passed = Math.min(this.#skip, chunk.length);
    this.#skip -= passed;
    this.#held = passed < chunk.length ? chunk.subarray(passed) : undefined;
  }

  #leave(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    this.#held = undefined;
    this.#skip = 0;
    stream?.on('error', () => undefined).destroy();
  }
}
