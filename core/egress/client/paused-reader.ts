import type { Readable } from 'node:stream';

/**
 * True while whoever reads a stream has paused it. Node goes on to fill the stream's own buffer then; a stream that
 * asks this, after each push and before it asks for more, lets its source wait instead and holds nothing for a thousand
 * clients that rest. To `_read` it answers `push('')`: nothing now, ask again when there is somebody.
 */
export const hasPausedReader = (stream: Readable): boolean =>
  stream.isPaused() && stream.listenerCount('readable') === 0;
