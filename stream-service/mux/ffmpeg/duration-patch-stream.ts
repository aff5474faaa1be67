import { Transform } from 'node:stream';
import { patchHeaderDuration } from '../../../core/media/isobmff/index.ts';

/** highWaterMark: with less, FFmpeg's pipe would pause and resume with every chunk. */
const BUFFER_BYTES = 256 * 1024;

/** Passes a fragmented MP4 on with its duration, in seconds, in the header; buffers the header only. */
export function createDurationPatchStream(seconds: number): Transform {
  let head: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    highWaterMark: BUFFER_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      if (!head) return done(null, chunk);
      const seen = Buffer.concat([head, chunk]);
      const patched = patchHeaderDuration(seen, seconds);
      head = patched ? undefined : seen;
      return patched ? done(null, patched) : done();
    },
    flush(done) {
      done(null, head);
    },
  });
}
