import type { Readable } from 'node:stream';

/**
 * True while the consumer of a stream has paused it. Node continues to fill the buffer of a paused stream up to its
 * high-water mark. A stream that checks this after each push and before each read pauses its source instead, so that a
 * thousand paused clients occupy no buffers. In `_read` such a stream calls `push('')`, which makes Node call `_read` again
 * once the consumer resumes.
 */
export const hasPausedReader = (stream: Readable): boolean =>
  stream.isPaused() && stream.listenerCount('readable') === 0;
