import type { ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { releaseBuffer } from '../../core/egress/guard/index.ts';
import { createRoundRobin, type RoundRobin } from './round-robin.ts';

/** Bytes of one body collected per write: one large write wakes the client once. */
const MAX_CORKED_BYTES = 512 * 1024;
/** The same over all bodies: with a thousand of them, chunks are written as they arrive. */
const MAX_TOTAL_CORKED_BYTES = 16 * 1024 * 1024;

/** All bodies of this process: about 10 ms per turn of the event loop, and per body what a socket delivers in one turn. */
const ALL_BODIES = createRoundRobin({ turnBytes: 2 * 1024 * 1024, quantumBytes: 512 * 1024 });

/** Lets the bodies of other clients move little until a response that is no stream has been sent. */
export function giveWayTo(client: string, response: ServerResponse): void {
  response.once('close', ALL_BODIES.giveWayTo(client));
}

export interface SendBodyOptions {
  /** Whose share of each turn is used. */
  readonly client: string;
  /** @default those of this process */
  readonly bodies?: RoundRobin;
}

/**
 * Sends a body after the head has been written. The response ends with the body, and is destroyed when the body fails;
 * the body is destroyed when the client disconnects.
 *
 * This function owns the chunks, and releases their memory as soon as the system has taken them: the garbage collector
 * would keep the chunks of slow clients for longer, about 100 MB for a thousand of them.
 */
export function sendBody(
  body: Readable,
  response: ServerResponse,
  { client, bodies = ALL_BODIES }: SendBodyOptions,
): void {
  const member = bodies.join(client);
  let corkedBytes = 0;
  /** For the round robin, whether or not the client accepts bytes. */
  let isWaiting = false;
  const flush = () => {
    if (corkedBytes === 0) return;
    corkedBytes = 0;
    // Uncorked, Node would pass each chunk and each line of the chunked coding to the system by itself.
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
    if (member.mayMove()) body.resume();
    else waitForTurn();
  };

  body.on('data', (chunk: Buffer) => {
    if (corkedBytes === 0) {
      response.cork();
      // Further chunks that are available now are read before this runs.
      setImmediate(flush);
    }
    corkedBytes += chunk.length;
    response.write(chunk, () => {
      releaseBuffer(chunk);
      onWritten();
    });
    if (corkedBytes >= Math.min(MAX_CORKED_BYTES, MAX_TOTAL_CORKED_BYTES / bodies.members())) flush();
    if (member.charge(chunk.length)) waitForTurn();
  });
  finished(body, { writable: false }, (error) => {
    member.leave();
    flush();
    if (error) response.destroy();
    else response.end();
  });
  finished(response, () => body.destroy());
}
