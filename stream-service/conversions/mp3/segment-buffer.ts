/** Bytes of one segment, encoded as far ahead of their reader as there is room. */
export interface SegmentBuffer {
  /** The next of them, as soon as there are some; undefined at its end. @throws what made the encode fail */
  take(): Promise<Buffer | undefined>;
  /** Bytes still to be encoded. */
  readonly missingBytes: number;
}

export interface SegmentBufferOptions {
  /** Offsets in bytes, both included. */
  readonly first: number;
  readonly last: number;
  /**
   * Encodes from an offset on, for as long as it is read. What it gives depends on the offset alone, so that an encode
   * that was left is taken up by another.
   */
  readonly encode: (first: number, last: number) => AsyncIterable<Buffer>;
  /** Bytes that may lie in memory. An encoder never waits for its reader: without room it ends. */
  readonly room: () => number;
}

export function startSegmentBuffer({ first, last, encode, room }: SegmentBufferOptions): SegmentBuffer {
  const held: Buffer[] = [];
  let heldBytes = 0;
  let next = first;
  let failure: { readonly error: unknown } | undefined;
  let news = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();

  const tell = () => {
    news.resolve();
    news = Promise.withResolvers();
  };

  const fill = async () => {
    while (next <= last) {
      for await (const chunk of encode(next, last)) {
        held.push(chunk);
        heldBytes += chunk.length;
        next += chunk.length;
        tell();
        if (heldBytes > room() && next <= last) break;
      }
      // Half of it must be free again: an encoder for less is not worth its start.
      while (heldBytes > room() / 2 && next <= last) await taken.promise;
    }
  };
  fill().catch((error: unknown) => {
    failure = { error };
    tell();
  });

  return {
    async take() {
      for (;;) {
        const chunk = held.shift();
        if (chunk) {
          heldBytes -= chunk.length;
          taken.resolve();
          taken = Promise.withResolvers();
          return chunk;
        }
        if (next > last) return undefined;
        if (failure) throw failure.error;
        await news.promise;
      }
    },
    get missingBytes() {
      return last + 1 - next;
    },
  };
}
