import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { releaseBuffer } from '../../core/egress/guard/index.ts';
import { createRoundRobin, type RoundRobin } from './round-robin.ts';

/** Bytes that one body gathers before they are written: one large write wakes a client once. */
const GATHERED_BYTES = 512 * 1024;
/** The same for all together: a thousand slow clients are written to as the bytes come. */
const GATHERED_BYTES_IN_ALL = 16 * 1024 * 1024;

/** All bodies of this process: some 10 ms to a turn of the event loop, and what comes from one socket in one turn to each. */
const ALL_BODIES = createRoundRobin({ turnBytes: 2 * 1024 * 1024, quantumBytes: 1024 * 1024 });

/**
 * Sends a body, behind the head that has been written: the response ends when the body has ended, and breaks when it
 * fails. A client that leaves ends the body.
 *
 * Whatever the body gives belongs to this function, which gives its memory back as soon as the system has it. The
 * garbage collector comes for the chunks of slow clients late: with a thousand of them, after some 100 MB.
 */
export function sendBody(body: Readable, response: ServerResponse, bodies: RoundRobin = ALL_BODIES): void {
  const member = bodies.join();
  let gathered = 0;
  /** For its turn, whether or not the client takes bytes. */
  let isWaiting = false;
  const flush = () => {
    if (gathered === 0) return;
    gathered = 0;
    // In chunked coding Node would otherwise give each chunk and each line between them to the system one by one.
    const { socket } = response;
    socket?.cork();
    response.uncork();
    socket?.uncork();
    if (response.writableLength > 0) body.pause();
  };
  const waitForTurn = () => {
    isWaiting = true;
    body.pause();
    member.wait(() => {
      isWaiting = false;
      if (response.writableLength === 0) body.resume();
    });
  };
  const onWritten = () => {
    if (isWaiting || !body.isPaused() || response.writableLength > 0) return;
    if (member.isTurnOver()) waitForTurn();
    else body.resume();
  };

  body.on('data', (chunk: Buffer) => {
    if (gathered === 0) {
      response.cork();
      // What else is there to be read now comes before it.
      setImmediate(flush);
    }
    gathered += chunk.length;
    response.write(chunk, () => {
      releaseBuffer(chunk);
      onWritten();
    });
    if (gathered >= Math.min(GATHERED_BYTES, GATHERED_BYTES_IN_ALL / bodies.members())) flush();
    if (member.spend(chunk.length)) waitForTurn();
  });
  finished(body, { writable: false }, (error) => {
    member.leave();
    flush();
    if (error) response.destroy();
    else response.end();
  });
  finished(response, () => body.destroy());
}
