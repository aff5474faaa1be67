import { Readable } from 'node:stream';
import { createSlices } from '../../../../core/concurrency/index.ts';
import { hasPausedReader } from '../../../../core/egress/client/index.ts';
import type { ByteSpan } from '../../../../core/media/isobmff/index.ts';
import type { ByteReader } from './byte-reader.ts';
import type { NextFragment, TrackFragment } from './track-fragments.ts';

/** A track to be interleaved. */
export interface TrackInput {
  readonly reader: ByteReader;
  readonly nextFragment: NextFragment;
  /** The next fragment to send; undefined after the last one. */
  upcoming: TrackFragment | undefined;
}

const HIGH_WATER_MARK_BYTES = 64 * 1024;

/** Interleaves the fragments of several tracks by decode time. Samples are passed on without copying. */
export class MuxStream extends Readable {
  readonly #inputs: readonly TrackInput[];
  #current: TrackInput | undefined;
  #ranges: readonly ByteSpan[] = [];
  /** Index of the range after the current one, and what is left of the current one. */
  #nextRange = 0;
  #remainingBytes = 0;
  #sequence = 0;
  /** A chunk of a source may have thousands of fragments. */
  readonly #endSlice = createSlices();
  #isReading = false;
  /** Guards against re-entry: taking and pushing bytes can call `#advance`. Also set while a fragment begins. */
  #isBusy = false;

  /** @param header `ftyp` and `moov` */
  constructor(header: Buffer, inputs: readonly TrackInput[]) {
    super({ highWaterMark: HIGH_WATER_MARK_BYTES });
    this.#inputs = inputs;
    for (const { reader } of inputs) reader.onChange = () => this.#advance();
    this.push(header);
  }

  override _read(): void {
    this.#isReading = !hasPausedReader(this);
    if (this.#isReading) this.#advance();
    else this.push('');
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    for (const { reader } of this.#inputs) reader.destroy();
    callback(error);
  }

  /** Pushes what the readers have until the stream's buffer is full or a reader has to wait for its source. */
  #advance(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      while (this.#isReading && !this.destroyed) {
        if (this.#remainingBytes === 0 && !this.#beginRange()) {
          this.#beginFragment().catch((error) => this.destroy(error));
          return;
        }
        const chunk = this.#current?.reader.take(this.#remainingBytes);
        if (!chunk) break;
        this.#remainingBytes -= chunk.length;
        this.#pushChunk(chunk);
      }
      this.#isBusy = false;
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #pushChunk(chunk: Buffer): void {
    this.#isReading = this.push(chunk) && !hasPausedReader(this);
  }

  /** False after the last range of the fragment. */
  #beginRange(): boolean {
    const range = this.#ranges[this.#nextRange];
    if (!range) return false;
    this.#nextRange += 1;
    this.#remainingBytes = range.bytes;
    this.#current?.reader.seek(range.first);
    return true;
  }

  /** Begins the fragment with the earliest decode time, once the current track's next one is known. */
  async #beginFragment(): Promise<void> {
    await this.#endSlice();
    if (this.#current) this.#current.upcoming = await this.#current.nextFragment();
    if (this.destroyed) return;
    this.#current = earliest(this.#inputs);
    const fragment = this.#current?.upcoming;
    if (!fragment) {
      this.push(null);
      return;
    }
    this.#ranges = fragment.ranges;
    this.#nextRange = 0;
    this.#sequence += 1;
    this.#pushChunk(fragment.header(this.#sequence));
    this.#isBusy = false;
    this.#advance();
  }
}

/** The input whose next fragment is decoded first; the first of equals. */
function earliest(inputs: readonly TrackInput[]): TrackInput | undefined {
  let found: TrackInput | undefined;
  for (const input of inputs) {
    const { upcoming } = input;
    if (upcoming && !(found?.upcoming && found.upcoming.startSeconds <= upcoming.startSeconds)) found = input;
  }
  return found;
}
