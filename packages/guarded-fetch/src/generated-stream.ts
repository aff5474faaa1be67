import { Readable } from 'node:stream';

/**
 * The bytes that a generator makes. Unlike that of `Readable.from`, its destruction does not wait for what the generator waits for.
 * @param onDestroy ends what the generator waits for
 */
export function generatedStream(parts: AsyncIterator<Buffer>, onDestroy: () => void): Readable {
  return new Readable({
    highWaterMark: 1,
    read() {
      parts.next().then(
        ({ value, done }) => this.push(done ? null : value),
        (error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      onDestroy();
      // Its `finally` blocks run once it does not wait any more.
      parts.return?.().catch(() => undefined);
      done(error);
    },
  });
}
