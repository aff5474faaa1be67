import { Transform } from 'node:stream';
import { parseBoxes } from './box-parser.ts';
import { patchDuration } from './duration-patch.ts';

/** A header that has not ended by then is no header of ours: it goes out as it is. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** Bytes held on the way. Less would stop and start FFmpeg's pipe with every chunk. */
const BUFFER_BYTES = 256 * 1024;

/** Passes a fragmented MP4 on with its true duration, in seconds, in the header. Touches nothing behind it. */
export function headerPatch(seconds: number): Transform {
  let head: Buffer | undefined = Buffer.alloc(0);
  return new Transform({
    highWaterMark: BUFFER_BYTES,
    transform(chunk: Buffer, _encoding, done) {
      if (!head) return done(null, chunk);
      const seen = Buffer.concat([head, chunk]);
      const patched = patchHead(seen, seconds);
      head = patched ? undefined : seen;
      return patched ? done(null, patched) : done();
    },
    flush(done) {
      done(null, head);
    },
  });
}

/** The bytes with their `moov` patched; undefined while more of them are needed. */
function patchHead(bytes: Buffer, seconds: number): Buffer | undefined {
  for (const box of parseBoxes(bytes)) {
    if (box.type === 'moof' || box.type === 'mdat' || box.end > MAX_HEADER_BYTES) return bytes;
    if (box.end > bytes.length) return undefined;
    if (box.type !== 'moov') continue;
    const moov = patchDuration(bytes.subarray(box.start, box.end), seconds);
    return Buffer.concat([bytes.subarray(0, box.start), moov, bytes.subarray(box.end)]);
  }
  return bytes.length > MAX_HEADER_BYTES ? bytes : undefined;
}
