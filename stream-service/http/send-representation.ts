import type { OutgoingHttpHeaders } from 'node:http';
import { finished } from 'node:stream';
import { answerFor, formatContentRange, matchesEntityTag } from '@reelay/seekable-media/http';
import { firstBytes } from '@reelay/source';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { problems, type StreamOperationId } from '../../core/api/index.ts';
import { UpstreamError } from '../../core/errors/index.ts';
import { contentDisposition, namingAs, namingOf, type SignKey } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Resource } from '../../core/state/index.ts';
import { type Representation, type RepresentationHead, toReadError } from '../outputs/index.ts';
import type { StreamSession } from '../sessions/index.ts';
import { type StalledClients, sendBody } from './send-body.ts';

/**
 * For an hour and no longer: by default CloudFront serves what has expired for as long as its origin fails, also when its
 * resource is gone since (RFC 5861 §4, RFC 9111 §5.2.2.2).
 */
export const CACHEABLE = 'public, max-age=3600, must-revalidate, stale-if-error=0';

/**
 * For responses with a name that the client has chosen, or without segments: neither is in the key of shared caches. And to links
 * of other sites, since these caches would answer the pages of such a site as well.
 */
const CACHEABLE_BY_CLIENT = CACHEABLE.replace('public', 'private');

/** Metadata that names a response. */
export interface Named {
  readonly resource: Pick<Resource, 'title' | 'author' | 'isLive'>;
  /** Chosen by the client, without extension. */
  readonly fileName?: string | undefined;
  /** Segments are left out of it or marked, which may be others tomorrow. */
  readonly hasSkips?: boolean;
  readonly isForCrossSite?: boolean;
  /** As in `PlannedOutput`. */
  readonly partTitle?: string | undefined;
  /** As in `Naming`. */
  readonly version?: string | undefined;
}

/**
 * The headers of a whole representation, for GET and HEAD alike. What is unknown is left out. What has an
 * exact length may be kept for an hour, by ranges; caches must not keep the rest, which has no ranges to resume with, nor
 * Combined, which ignores them, and archives, whose progress is reported as they are sent.
 */
export function responseHeaders(
  operationId: StreamOperationId,
  { resource: { title, author, isLive }, fileName, partTitle, version, hasSkips, isForCrossSite }: Named,
  head: RepresentationHead,
  signKey: SignKey = (key) => key,
): Record<string, string> {
  const { size, mimeType, fileExtension, etag, acceptRanges, estimatedBytes, contentLocation } = head;
  const { isInline, startSeconds } = head;
  const isKept = operationId !== 'Combined' && operationId !== 'Archive';
  const isCacheable = !isLive && size !== undefined && isKept;
  const isForAll = fileName === undefined && !hasSkips && !isForCrossSite;
  const naming =
    fileName === undefined ? namingOf({ title, author }, { partTitle, version }, head) : namingAs(fileName);
  return {
    'content-type': mimeType,
    ...(!isInline && { 'content-disposition': contentDisposition(naming, fileExtension) }),
    'cache-control': isCacheable ? (isForAll ? CACHEABLE : CACHEABLE_BY_CLIENT) : 'no-store',
    ...(acceptRanges && { 'accept-ranges': acceptRanges }),
    ...(size !== undefined && { 'content-length': String(size) }),
    ...(etag && { etag }),
    ...(contentLocation && { 'content-location': withSignedKey(contentLocation, signKey) }),
    // The name that clients of ArgonFetch read (GET Combined?start=).
    ...(startSeconds !== undefined && { 'x-argon-start': startSeconds.toFixed(3) }),
    ...(estimatedBytes && { 'estimated-content-length': String(estimatedBytes) }),
  };
}

/** Whether If-None-Match has the entity tag (RFC 9110 §13.1.2). No date is ever sent. */
export const matchesIfNoneMatch = (
  { headers }: Pick<FastifyRequest, 'headers'>,
  { etag }: RepresentationHead,
): boolean => etag !== undefined && matchesEntityTag(headers['if-none-match'], etag);

/** Sends 304 with those headers of the 200 that caches renew (RFC 9110 §15.4.5). */
export function sendNotModified(reply: FastifyReply, headers: Readonly<Record<string, string>>): FastifyReply {
  const renewed = ['etag', 'cache-control', 'content-location'].flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return reply.code(304).headers(Object.fromEntries(renewed)).send();
}

/** A path that ends in a key, which is signed where the instance is private. */
const withSignedKey = (path: string, signKey: SignKey): string => path.replace(/[^/]+$/, signKey);

interface SendOptions {
  readonly representation: Representation;
  /** The headers of the whole representation. */
  readonly headersOf: (head: RepresentationHead) => Readonly<Record<string, string>>;
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
  { representation, headersOf, session, stalledClients, log }: SendOptions,
): Promise<FastifyReply> {
  const { size } = representation;
  const sent = size === undefined ? undefined : sentOf(request.headers, { ...representation, size });
  const body = representation.read(sent?.first ?? 0, sent?.last);
  session.onClose(() => body.destroy());
  await firstBytes(body).catch((error) => {
    throw toReadError(error);
  });
  finished(body, (error) => {
    if (error && !session.signal.aborted) log.warn('Stream failed', { error });
  });

  reply.headers(headersOf(representation));
  if (sent?.status === 206) {
    reply.code(206).header('content-range', formatContentRange(sent, size ?? 0));
    reply.header('content-length', String(sent.last - sent.first + 1));
  }
  session.markStreaming();
  reply.hijack();
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as OutgoingHttpHeaders);
  stalledClients.watch(reply.raw);
  sendBody(body, reply.raw, session);
  return reply;
}

/** What is sent of a representation of known size. That the client has it already was answered before. */
function sentOf(
  headers: FastifyRequest['headers'],
  { acceptRanges, etag, size }: RepresentationHead & { size: number },
) {
  const ranges = acceptRanges === 'bytes' ? { range: headers.range, 'if-range': headers['if-range'] as string } : {};
  const answer = answerFor(ranges, { etag, size });
  if (!('first' in answer)) throw problems.rangeNotSatisfiable(size);
  if (size === 0) throw new UpstreamError('The source is empty');
  return answer;
}
