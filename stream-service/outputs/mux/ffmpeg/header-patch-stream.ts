import { Transform } from 'node:stream';

/** highWaterMark: with less, FFmpeg's pipe would pause and resume with every chunk. */
const BUFFER_BYTES = 256 * 1024;

/** Changes the first bytes of a file. @returns all of them; undefined while more are needed */
export type PatchHeader = (bytes: Buffer) => Buffer | undefined;

/** Passes a file on with its header changed; buffers the header only. Fails with what `patch` throws. */
export function createHeaderPatchStream(patch: PatchHeader): Transform {
  let head: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    highWaterMark: BUFFER_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      if (!head) return done(null, chunk);
      const seen = Buffer.concat([head, chunk]);
      try {
        const patched = patch(seen);
        head = patched ? undefined : seen;
        return patched ? done(null, patched) : done();
      } catch (error) {
        return done(error as Error);
      }
    },
    flush(done) {
      done(null, head);
    },
  });
}
