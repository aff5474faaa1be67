import type { OutgoingHttpHeaders } from 'node:http';
import { finished } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problems, toProblem } from '../../core/api/index.ts';
import { type ByteRange, decideRange, formatContentRange } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Representation } from '../representation.ts';
import type { StreamSession } from '../sessions/index.ts';
import { firstBytes } from '../source/index.ts';
import { sendBody } from './send-body.ts';

/** What a HEAD says. Undefined: unknown until then, so it is left out. */
export interface RepresentationHead extends Pick<Representation, 'size' | 'mimeType' | 'fileExtension'> {
  readonly etag?: string | undefined;
  readonly acceptRanges: 'bytes' | 'none' | undefined;
}

/** The headers of a GET, as far as they are known. */
export function sendHead(
  reply: FastifyReply,
  { size, mimeType, acceptRanges, etag }: RepresentationHead,
): FastifyReply {
  if (acceptRanges !== undefined) reply.header('accept-ranges', acceptRanges);
  if (size !== undefined) reply.header('content-length', size);
  if (etag !== undefined) reply.header('etag', etag);
  return reply.type(mimeType).send();
}

/**
 * Sends a representation: whole, or the range asked for (RFC 9110 §14). The status is chosen when the first bytes are in
 * hand; a failure after that breaks the connection.
 * @throws Problem 416, and whatever reading the first bytes throws
 */
export async function sendRepresentation(
  { headers: { range, 'if-range': ifRange } }: Pick<FastifyRequest, 'headers'>,
  reply: FastifyReply,
  representation: Representation,
  { visit, log }: { readonly visit: StreamSession; readonly log: Log },
): Promise<FastifyReply> {
  const { size, etag, mimeType } = representation;
  const slice = size === undefined ? undefined : sliceOf(fits(ifRange, etag) ? range : undefined, size);
  const body = slice ? representation.read(slice.first, slice.last) : representation.read(0);
  visit.onClose(() => body.destroy());
  await firstBytes(body).catch((error) => {
    throw toUpstreamProblem(error);
  });
  finished(body, (error) => {
    if (error && !visit.signal.aborted) log.warn('A stream broke', { error });
  });

  if (size === undefined || !slice) reply.header('accept-ranges', 'none');
  else reply.headers({ 'accept-ranges': 'bytes', etag, 'content-length': slice.last - slice.first + 1 });
  if (size !== undefined && slice?.partial) reply.code(206).header('content-range', formatContentRange(slice, size));
  visit.markStreaming();
  reply.type(mimeType).hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  sendBody(body, reply.raw);
  return reply;
}

/** What is not worded yet came from upstream or from FFmpeg working on it. */
export const toUpstreamProblem = (error: unknown) => {
  const problem = toProblem(error);
  return problem === error ? problem : problems.fetchFailed(error);
};

/** Strong comparison (RFC 9110 §13.1.5). We send no Last-Modified, so a date never fits. */
const fits = (ifRange: string | string[] | undefined, etag: string | undefined) =>
  ifRange === undefined || ifRange === etag;

function sliceOf(range: string | undefined, size: number): ByteRange & { readonly partial: boolean } {
  const decision = decideRange(range, size);
  if (decision === 'unsatisfiable') throw problems.rangeNotSatisfiable(size);
  if (size === 0) throw problems.fetchFailed(new Error('The source is empty'));
  return decision === 'whole' ? { first: 0, last: size - 1, partial: false } : { ...decision, partial: true };
}
