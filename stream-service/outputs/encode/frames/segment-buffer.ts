/** The bytes of one segment, encoded ahead of their reader up to a limit. */
export interface SegmentBuffer {
  /** Waits for the next chunk; undefined at the end of the segment. @throws the error that the encoder failed with */
  take(): Promise<Buffer | undefined>;
  /** Bytes still to be encoded. */
  readonly missingBytes: number;
}

export interface SegmentBufferOptions {
  /** Offsets in bytes, both included. */
  readonly first: number;
  readonly last: number;
  /**
   * Encodes from an offset, for as long as it is read. The bytes depend on the offset alone, so that a later encoder can
   * continue where one was ended.
   */
  readonly encode: (first: number, last: number) => AsyncIterable<Buffer>;
  /** Limit of buffered bytes. An encoder never waits for its reader: at the limit it ends. */
  readonly maxBufferedBytes: () => number;
}

export function startSegmentBuffer({ first, last, encode, maxBufferedBytes }: SegmentBufferOptions): SegmentBuffer {
  const buffered: Buffer[] = [];
  let bufferedBytes = 0;
  let next = first;
  let failure: { readonly error: unknown } | undefined;
  let progress = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();

  const notify = () => {
    progress.resolve();
    progress = Promise.withResolvers();
  };

  const fill = async () => {
    while (next <= last) {
      for await (const chunk of encode(next, last)) {
        buffered.push(chunk);
        bufferedBytes += chunk.length;
        next += chunk.length;
        notify();
        if (bufferedBytes > maxBufferedBytes() && next <= last) break;
      }
      // Waits until half of the buffer is free: starting an encoder for less costs more than it gains.
      while (bufferedBytes > maxBufferedBytes() / 2 && next <= last) await taken.promise;
    }
  };
  fill().catch((error: unknown) => {
    failure = { error };
    notify();
  });

  return {
    async take() {
      for (;;) {
        const chunk = buffered.shift();
        if (chunk) {
          bufferedBytes -= chunk.length;
          taken.resolve();
          taken = Promise.withResolvers();
          return chunk;
        }
        if (next > last) return undefined;
        if (failure) throw failure.error;
        await progress.promise;
      }
    },
    get missingBytes() {
      return last + 1 - next;
    },
  };
}
