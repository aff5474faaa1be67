import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type Problem, renderProblem } from '../../core/api/index.ts';
import { mergeVary, readClient } from '../../core/http/index.ts';

/** A request and its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers a request with a problem before it is routed. */
export function answerProblem(
  { request, response }: Exchange,
  problem: Problem,
  { vary, ...more }: OutgoingHttpHeaders = {},
): void {
  const { headers, body } = renderProblem(problem.details, {
    accept: request.headers.accept,
    target: request.url ?? '/',
  });
  request.resume();
  response.writeHead(problem.details.status, {
    ...problem.headers,
    ...headers,
    ...more,
    vary: mergeVary(headers.vary, vary?.toString()),
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** The client of a request, in the form of `clientOf`. */
export const clientOfRequest = ({ socket, headers }: IncomingMessage, trustedProxies: number): string =>
  readClient({
    remoteAddress: socket.remoteAddress,
    forwardedFor: headers['x-forwarded-for']?.toString(),
    trustedProxies,
  });

/** Sets or removes a header in both forms in which the parts of the service read it: they trust what this service sets. */
export function setHeader(request: IncomingMessage, name: string, value: string | undefined): void {
  if (value === undefined) {
    delete request.headers[name];
    delete request.headersDistinct[name];
  } else {
    request.headers[name] = value;
    request.headersDistinct[name] = [value];
  }
}
