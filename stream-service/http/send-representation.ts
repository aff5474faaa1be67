import type { OutgoingHttpHeaders } from 'node:http';
import { finished } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problems, type StreamOperationId } from '../../core/api/index.ts';
import { UpstreamError } from '../../core/errors/index.ts';
import { type ByteRange, decideRange, formatContentRange } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { KeyedRendition } from '../../core/state/index.ts';
import { toReadError } from '../read-error.ts';
import type { Representation } from '../representation.ts';
import type { StreamSession } from '../sessions/index.ts';
import { firstBytes } from '../source/index.ts';
import { responseHeaders } from './response-headers.ts';
import { sendBody } from './send-body.ts';
import type { StalledClients } from './stalled-clients.ts';

export interface SendOptions {
  readonly operationId: StreamOperationId;
  readonly found: KeyedRendition;
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
  { headers: { range, 'if-range': ifRange } }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  { operationId, found, representation, session, stalledClients, log }: SendOptions,
): Promise<FastifyReply> {
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

  reply.headers(responseHeaders(operationId, found, representation));
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
