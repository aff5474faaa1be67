import { Readable } from 'node:stream';
import { hasPausedReader } from '../../../core/egress/client/index.ts';
import type { NextFragment, SourceRange, TrackFragment } from '../../../core/media/isobmff/index.ts';
import type { ByteReader } from './byte-reader.ts';

/** Where the samples of one track come from. */
export interface TrackInput {
  readonly cursor: ByteReader;
  readonly next: NextFragment;
  /** Undefined: there are no more. */
  upcoming: TrackFragment | undefined;
}

const HIGH_WATER_MARK = 64 * 1024;

/** Two sources as one file: what is decoded earlier goes out earlier, its bytes as they came. */
export class MuxStream extends Readable {
  readonly #inputs: readonly TrackInput[];
  #current: TrackInput | undefined;
  #ranges: readonly SourceRange[] = [];
  /** Which range comes next, and the bytes missing of the one before. */
  #range = 0;
  #missing = 0;
  #sequence = 0;
  #isWanted = false;
  #isBusy = false;

  /** @param head what comes before the first run */
  constructor(head: Buffer, inputs: readonly TrackInput[]) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#inputs = inputs;
    for (const { cursor } of inputs) cursor.onNews = () => this.#advance();
    this.push(head);
  }

  override _read(): void {
    this.#isWanted = !hasPausedReader(this);
    if (this.#isWanted) this.#advance();
    else this.push('');
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    for (const { cursor } of this.#inputs) cursor.destroy();
    callback(error);
  }

  /** Passes on what is there, until nobody wants more or it has to come first. */
  #advance(): void {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      while (this.#isWanted && !this.destroyed) {
        if (this.#missing === 0 && !this.#beginRange()) {
          this.#beginRun().catch((error) => this.destroy(error));
          return;
        }
        const chunk = this.#current?.cursor.take(this.#missing);
        if (!chunk) break;
        this.#missing -= chunk.length;
        this.#give(chunk);
      }
      this.#isBusy = false;
    } catch (error) {
      this.destroy(error as Error);
    }
  }

  #give(chunk: Buffer): void {
    this.#isWanted = this.push(chunk) && !hasPausedReader(this);
  }

  /** False: the run is over. */
  #beginRange(): boolean {
    const range = this.#ranges[this.#range];
    if (!range) return false;
    this.#range += 1;
    this.#missing = range.bytes;
    this.#current?.cursor.seek(range.first);
    return true;
  }

  /** Begins the run that is decoded next, once it is known what follows the one before. */
  async #beginRun(): Promise<void> {
    if (this.#current) this.#current.upcoming = await this.#current.next();
    if (this.destroyed) return;
    this.#current = earliest(this.#inputs);
    const run = this.#current?.upcoming;
    if (!run) {
      this.push(null);
      return;
    }
    this.#ranges = run.ranges;
    this.#range = 0;
    this.#sequence += 1;
    this.#give(run.head(this.#sequence));
    this.#isBusy = false;
    this.#advance();
  }
}

function earliest(inputs: readonly TrackInput[]): TrackInput | undefined {
  let found: TrackInput | undefined;
  for (const input of inputs) {
    const { upcoming } = input;
    if (upcoming && !(found?.upcoming && found.upcoming.startSeconds <= upcoming.startSeconds)) found = input;
  }
  return found;
}
