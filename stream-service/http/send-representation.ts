import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { finished, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problems, type StreamOperationId } from '../../core/api/index.ts';
import { releaseBuffer } from '../../core/egress/guard/index.ts';
import { UpstreamError } from '../../core/errors/index.ts';
import { accessHeaderOf, type ByteRange, decideRange, formatContentRange, signerFor } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { type Representation, toReadError } from '../representation.ts';
import type { StreamSession } from '../sessions/index.ts';
import { firstBytes } from '../source/index.ts';
import { type Named, responseHeaders } from './response-headers.ts';
import { createRoundRobin, type RoundRobin } from './round-robin.ts';
import type { StalledClients } from './stalled-clients.ts';

export interface SendOptions {
  readonly operationId: StreamOperationId;
  readonly found: Named;
  readonly representation: Representation;
  readonly session: StreamSession;
  readonly stalledClients: StalledClients;
  readonly log: Log;
}

/**
 * Sends a representation: whole, or the requested range (RFC 9110 §14). The status is chosen once the first bytes are
 * available; a failure after that breaks the connection.
 * @throws Problem 416, UpstreamError, or the error that reading the first bytes failed with
 */
export async function sendRepresentation(
  request: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  { operationId, found, representation, session, stalledClients, log }: SendOptions,
): Promise<FastifyReply> {
  const { range, 'if-range': ifRange } = request.headers;
  const { size, etag, acceptRanges } = representation;
  const isRanged = acceptRanges === 'bytes' && rangeApplies(ifRange, etag);
  const slice = size === undefined ? undefined : sliceOf(isRanged ? range : undefined, size);
  const body = slice ? representation.read(slice.first, slice.last) : representation.read(0);
  session.onClose(() => body.destroy());
  await firstBytes(body).catch((error) => {
    throw toReadError(error);
  });
  finished(body, (error) => {
    if (error && !session.signal.aborted) log.warn('Stream failed', { error });
  });

  reply.headers(responseHeaders(operationId, found, representation, signerFor(accessHeaderOf(request))));
  if (size !== undefined && slice?.partial)
    reply.code(206).headers({
      'content-range': formatContentRange(slice, size),
      'content-length': String(slice.last - slice.first + 1),
    });
  session.markStreaming();
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  stalledClients.watch(reply.raw);
  sendBody(body, reply.raw);
  return reply;
}

/** Strong comparison (RFC 9110 §13.1.5). No Last-Modified is ever sent, so a date never matches. */
const rangeApplies = (ifRange: string | string[] | undefined, etag: string | undefined) =>
  ifRange === undefined || ifRange === etag;

function sliceOf(range: string | undefined, size: number): ByteRange & { readonly partial: boolean } {
  const decision = decideRange(range, size);
  if (decision === 'unsatisfiable') throw problems.rangeNotSatisfiable(size);
  if (size === 0) throw new UpstreamError('The source is empty');
  return decision === 'whole' ? { first: 0, last: size - 1, partial: false } : { ...decision, partial: true };
}

/** Bytes of one body collected per write: one large write wakes the client once. */
const MAX_CORKED_BYTES = 512 * 1024;
/** The same over all bodies: with a thousand of them, chunks are written as they arrive. */
const MAX_TOTAL_CORKED_BYTES = 16 * 1024 * 1024;

/** All bodies of this process: about 10 ms per turn of the event loop, and per body what a socket delivers in one turn. */
const ALL_BODIES = createRoundRobin({ turnBytes: 2 * 1024 * 1024, quantumBytes: 1024 * 1024 });

/**
 * Sends a body after the head has been written. The response ends with the body, and is destroyed when the body fails;
 * the body is destroyed when the client disconnects.
 *
 * This function owns the chunks, and releases their memory as soon as the system has taken them: the garbage collector
 * would keep the chunks of slow clients for longer, about 100 MB for a thousand of them.
 */
export function sendBody(body: Readable, response: ServerResponse, bodies: RoundRobin = ALL_BODIES): void {
  const member = bodies.join();
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
    if (member.isTurnOver()) waitForTurn();
    else body.resume();
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
