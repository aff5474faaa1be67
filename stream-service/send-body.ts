import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';

/**
 * Sends a body, behind the head that has been written: the response ends when the body has ended, and breaks when it
 * fails. A client that leaves ends the body.
 *
 * Whatever the body gives belongs to this function, which gives its memory back as soon as the system has it. The
 * garbage collector comes for the chunks of slow clients late: with a thousand of them, after some 100 MB.
 */
export function sendBody(body: Readable, response: ServerResponse): void {
  body.on('data', (chunk: Buffer) => {
    response.write(chunk, () => {
      release(chunk);
      if (body.isPaused() && response.writableLength === 0) body.resume();
    });
    // Not what `write` says: that is no to a large chunk of which nothing waits, and yes while a small one does.
    if (response.writableLength > 0) body.pause();
  });
  finished(body, { writable: false }, (error) => {
    if (error) response.destroy();
    else response.end();
  });
  finished(response, () => body.destroy());
}

/** Frees what lies under a chunk, unless other chunks share it. */
function release({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
