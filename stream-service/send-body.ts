import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';

/** Bytes that one body gathers before they are written: one large write wakes a client once. */
const GATHERED_BYTES = 512 * 1024;
/** The same for all together: a thousand slow clients are written to as the bytes come. */
const GATHERED_BYTES_IN_ALL = 16 * 1024 * 1024;

/** Bodies being sent by this process. */
let bodies = 0;

/**
 * Sends a body, behind the head that has been written: the response ends when the body has ended, and breaks when it
 * fails. A client that leaves ends the body.
 *
 * Whatever the body gives belongs to this function, which gives its memory back as soon as the system has it. The
 * garbage collector comes for the chunks of slow clients late: with a thousand of them, after some 100 MB.
 */
export function sendBody(body: Readable, response: ServerResponse): void {
  let gathered = 0;
  const flush = () => {
    if (gathered === 0) return;
    gathered = 0;
    response.uncork();
    if (response.writableLength > 0) body.pause();
  };

  bodies += 1;
  body.on('data', (chunk: Buffer) => {
    if (gathered === 0) {
      response.cork();
      // What else is there to be read now comes before it.
      setImmediate(flush);
    }
    gathered += chunk.length;
    response.write(chunk, () => {
      release(chunk);
      if (body.isPaused() && response.writableLength === 0) body.resume();
    });
    if (gathered >= Math.min(GATHERED_BYTES, GATHERED_BYTES_IN_ALL / bodies)) flush();
  });
  finished(body, { writable: false }, (error) => {
    bodies -= 1;
    flush();
    if (error) response.destroy();
    else response.end();
  });
  finished(response, () => body.destroy());
}

/** Frees what lies under a chunk, unless other chunks share it. */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
