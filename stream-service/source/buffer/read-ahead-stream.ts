import { Readable } from 'node:stream';
import { hasPausedReader } from '../../../core/egress/client/index.ts';
import type { RangeFetch } from '../request/index.ts';
import type { AdaptiveParallelism } from './adaptive-parallelism.ts';
import type { ReadAheadBudget } from './read-ahead-budget.ts';

/** Where the parts of a stream come from, in order. */
export interface FetchScheduler {
  /** Starts the next part; undefined: there is none now. */
  next(): RangeFetch | undefined;
  /** Bytes that the next part will take, at most; undefined: nobody knows. */
  nextBytes(): number | undefined;
  /** True when no part will come any more. */
  isDone(): boolean;
  /** Called with what to call when parts or news of them are there. */
  watch(news: (error?: Error) => void): void;
  /** A part is begun: bytes go through this before they leave. */
  filter?(part: RangeFetch): Filter | undefined;
  close(): void;
}

/** Turns the bytes of one part into others. */
export interface Filter {
  /** @throws when it cannot be turned into anything true */
  update(chunk: Buffer): Buffer;
  /** What is left at its end. @throws when the part does not end as it should */
  final(): Buffer;
}

export interface ReadAheadOptions {
  readonly supply: FetchScheduler;
  readonly connections: AdaptiveParallelism;
  /** Bytes held ahead of the client. */
  readonly aheadBytes: number;
  readonly pool: ReadAheadBudget;
}

/** Bytes from which no more are kept for a reader that asks by itself: what is more stays with the parts. */
const HIGH_WATER_MARK = 64 * 1024;

/** Parts one behind the other as one stream, the next ones under way before their turn. */
export class ReadAheadStream extends Readable {
  readonly #supply: FetchScheduler;
  readonly #connections: AdaptiveParallelism;
  readonly #aheadBytes: number;
  readonly #pool: ReadAheadBudget;
  /** What each part that is not the head has of the pool. */
  readonly #reserved = new Map<RangeFetch, number>();
  readonly #parts: RangeFetch[] = [];
  #head: RangeFetch | undefined;
  #filter: Filter | undefined;
  #isWanted = false;

  constructor({ supply, connections, aheadBytes, pool }: ReadAheadOptions) {
    super({ highWaterMark: HIGH_WATER_MARK });
    this.#supply = supply;
    this.#connections = connections;
    this.#aheadBytes = aheadBytes;
    this.#pool = pool;
    supply.watch((error) => {
      if (error) this.destroy(error);
      else this.#advance();
    });
  }

  override _read(): void {
    if (this.#isWanted) return;
    if (hasPausedReader(this)) {
      this.push('');
      return;
    }
    this.#isWanted = true;
    this.#connections.blocked(false);
    if (this.#head) this.#head.resume();
    this.#advance();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    for (const part of this.#parts) {
      part.destroy();
      this.#release(part);
    }
    this.#parts.length = 0;
    this.#head = undefined;
    this.#supply.close();
    callback(error);
  }

  /** Starts what may be started and makes the first part the head. */
  #advance(): void {
    if (this.destroyed || !this.#isWanted) return;
    while (this.#mayStart() && this.#start());
    const [first] = this.#parts;
    if (!first) {
      if (this.#supply.isDone()) this.push(null);
    } else if (first !== this.#head) this.#begin(first);
  }

  /** Asked with every chunk: one connection is the common case, and a cheap one. */
  #mayStart(): boolean {
    const [head] = this.#parts;
    if (!head) return true;
    const { count, lead } = this.#connections;
    if (count === 1) return this.#parts.length === 1 && head.remainingBytes <= lead;
    const running = this.#parts.reduce((sum, { isRunning }) => sum + Number(isRunning), 0);
    if (running >= count) return false;
    const held = this.#parts.reduce((sum, { maxBufferedBytes: weight }, index) => sum + (index === 0 ? 0 : weight), 0);
    return held + this.#nextBytes() <= this.#aheadBytes;
  }

  #nextBytes(): number {
    return this.#supply.nextBytes() ?? this.#aheadBytes / this.#connections.count;
  }

  /** False: there is no next part now, or no room for it. */
  #start(): boolean {
    const isAhead = this.#parts.length > 0;
    const bytes = isAhead ? (this.#connections.count === 1 ? this.#connections.lead : this.#nextBytes()) : 0;
    if (bytes > 0 && !this.#pool.take(bytes)) return false;
    const part = this.#supply.next();
    if (!part) this.#pool.give(bytes);
    else {
      this.#parts.push(part);
      this.#reserved.set(part, bytes);
    }
    return part !== undefined;
  }

  #release(part: RangeFetch): void {
    this.#pool.give(this.#reserved.get(part) ?? 0);
    this.#reserved.delete(part);
  }

  #begin(part: RangeFetch): void {
    this.#head = part;
    this.#filter = this.#supply.filter?.(part);
    part.attach({
      data: (chunk) => this.#give(chunk),
      end: () => this.#finish(part),
      fail: (error) => this.destroy(error),
    });
  }

  #give(bytes: Buffer): boolean {
    let chunk: Buffer;
    try {
      chunk = this.#filter ? this.#filter.update(bytes) : bytes;
    } catch (error) {
      this.destroy(error as Error);
      return false;
    }
    // A filter may keep a few bytes back; an empty chunk would say nothing.
    if (chunk.length > 0 && (!this.push(chunk) || hasPausedReader(this))) {
      this.#isWanted = false;
      this.#connections.blocked(true);
    } else this.#advance();
    return this.#isWanted && !this.destroyed;
  }

  #finish(part: RangeFetch): void {
    this.#parts.splice(this.#parts.indexOf(part), 1);
    this.#release(part);
    if (this.#head === part) this.#head = undefined;
    try {
      const rest = this.#filter?.final();
      if (rest?.length) this.#isWanted = this.push(rest) && !hasPausedReader(this);
    } catch (error) {
      this.destroy(error as Error);
      return;
    }
    this.#filter = undefined;
    this.#advance();
    // Nobody wants bytes just now, but the end is no byte.
    if (!this.#isWanted && this.#parts.length === 0 && this.#supply.isDone()) this.push(null);
  }
}
