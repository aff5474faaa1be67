import { createCache, createSingleFlight } from '@reelay/concurrency';
import { memoryShares } from '../../core/config/index.ts';
import type { ByteReader } from './byte-reader.ts';

/** Extents of files that were computed, or read, recently. The bytes of all together are bounded. */
export interface ComputedExtents {
  /** @param name distinguishes it from those of all files */
  get(name: string, bytes: number): ComputedExtent;
  /** All bytes of an extent that is there, which must not be changed. */
  complete(name: string): Buffer | undefined;
  /**
   * All bytes of an extent, which must not be changed. Those who want it at the same time share one filling, each until its signal
   * aborts; it is aborted when the last one has left. Where the filling of another caller fails, the caller fills by its own `advance`.
   * @throws what `advance` throws, and the signal's reason
   */
  whole(name: string, bytes: number, advance: AdvanceExtent, signal?: AbortSignal): Promise<Buffer>;
  /** Evicts all whose names begin like this. */
  evict(prefix: string): void;
}

/** Adds bytes to an extent, some at least. */
export type AdvanceExtent = (extent: ComputedExtent, signal: AbortSignal) => Promise<void>;

const MAX_ENTRIES = 16_384;
/** What is around the position of a player; the rest is made again when it is needed. */
const IDLE = { afterMs: 30_000, maxWeight: 8 * 1024 * 1024 };

/** @param maxBytes beyond which the least recently used ones are evicted */
export function createComputedExtents(maxBytes = 1.5 * memoryShares().placeBytes): ComputedExtents {
  const extents = createCache<string, ComputedExtent>({
    maxEntries: MAX_ENTRIES,
    idle: IDLE,
    maxWeight: maxBytes,
    weightOf: ({ bytes }) => bytes,
  });
  const get = (name: string, bytes: number) => extents.get(name) ?? extents.set(name, new ComputedExtent(bytes));
  const fillings = createSingleFlight<Buffer>();
  return {
    get,
    complete: (name) => extents.get(name)?.complete,
    async whole(name, bytes, advance, signal) {
      for (;;) {
        let isOwn = false;
        const fill = (shared: AbortSignal) => {
          isOwn = true;
          const extent = get(name, bytes);
          return extent.whole(() => advance(extent, shared));
        };
        try {
          return await fillings(name, fill, signal);
        } catch (error) {
          if (isOwn || signal?.aborted) throw error;
        }
      }
    },
    evict(prefix) {
      for (const name of [...extents.keys()]) if (name.startsWith(prefix)) extents.delete(name);
    },
  };
}

type Advance = () => Promise<void>;

/**
 * Bytes that are added in order, as far as one of its readers needs them, by the means of that reader: nothing is computed ahead of
 * what clients take, and another reader goes on where one has left.
 */
export class ComputedExtent {
  readonly bytes: number;
  readonly #content: Buffer;
  #filled = 0;
  #busy: Promise<void> | undefined;

  constructor(bytes: number) {
    this.bytes = bytes;
    this.#content = Buffer.allocUnsafeSlow(bytes);
  }

  /** Bytes so far. */
  get filled(): number {
    return this.#filled;
  }

  get missingBytes(): number {
    return this.bytes - this.#filled;
  }

  /** All bytes, which must not be changed. Undefined: some are missing. */
  get complete(): Buffer | undefined {
    return this.missingBytes === 0 ? this.#content : undefined;
  }

  append(bytes: Buffer): void {
    this.#filled += bytes.copy(this.#content, this.#filled);
  }

  /** Appends what a source has at an offset, of at most `maxBytes`. */
  async appendFrom(reader: ByteReader, offset: number, maxBytes: number): Promise<void> {
    reader.seek(offset);
    await reader.ready();
    for (let left = maxBytes; left > 0; ) {
      const chunk = reader.take(left);
      if (!chunk) return;
      this.append(chunk);
      left -= chunk.length;
    }
  }

  /**
   * A copy of some bytes, as many as are there, of at most `maxBytes`.
   * @param at offset in the extent
   * @throws what `advance` throws
   */
  async read(at: number, maxBytes: number, advance: Advance): Promise<Buffer> {
    await this.#fill(at + 1, advance);
    return Buffer.from(this.#content.subarray(at, Math.min(this.#filled, at + maxBytes)));
  }

  /** All bytes, which must not be changed. */
  async whole(advance: Advance): Promise<Buffer> {
    await this.#fill(this.bytes, advance);
    return this.#content;
  }

  async #fill(end: number, advance: Advance): Promise<void> {
    while (this.#filled < end) {
      // The failure of another reader is not that of this one.
      if (this.#busy) await this.#busy.catch(() => undefined);
      else {
        this.#busy = advance().finally(() => {
          this.#busy = undefined;
        });
        await this.#busy;
      }
    }
  }
}
