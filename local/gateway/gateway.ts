import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { problems } from '../../core/api/index.ts';
import { ClientDisconnected } from '../../core/errors/index.ts';
import { renderJson } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { toContext, toHttpApiEvent } from './http-api-event.ts';

/** A Lambda function behind an HTTP API, payload format 2.0. */
export type HttpApiHandler = (
  event: APIGatewayProxyEventV2,
  context: never,
) => Promise<APIGatewayProxyStructuredResultV2>;

export interface GatewayOptions {
  /** By path, case-insensitive; one that ends in `*` matches every path with that prefix. */
  readonly routes: ReadonlyMap<string, HttpApiHandler>;
  /** For every other path. */
  readonly fallback: HttpApiHandler;
  /** Proxies in front whose entry in X-Forwarded-For is trusted. @default 0 */
  readonly trustedProxies?: number;
  readonly log: Log;
}

/** A request listener of a Node HTTP server. */
export type Gateway = (request: IncomingMessage, response: ServerResponse) => void;

interface Target {
  readonly routeKey: string;
  readonly handler: HttpApiHandler;
}

/** Runs Lambda handlers on one machine: converts requests to events of an HTTP API, and results to responses. */
export function createGateway({ routes, fallback, trustedProxies, log }: GatewayOptions): Gateway {
  const route = createRouter(routes, fallback);

  const invoke = async (request: IncomingMessage, signal: AbortSignal): Promise<APIGatewayProxyStructuredResultV2> => {
    try {
      const { routeKey, handler } = route(request.url ?? '/');
      const event = toHttpApiEvent(request, routeKey, trustedProxies);
      return await handler(event, toContext(event, signal) as never);
    } catch (error) {
      log.error('Handler failed', { error });
      const { details } = problems.internal();
      return { statusCode: details.status, ...renderJson(details, request.headers.accept) };
    }
  };

  return (request, response) => {
    // No operation reads a body: it is discarded, and the connection closes after the response instead of awaiting it.
    request.resume();
    if (hasBody(request)) response.shouldKeepAlive = false;
    invoke(request, disconnectSignal(response))
      .then((result) => send(request, response, result))
      .catch((error) => {
        log.error('Sending response failed', { error });
        response.destroy();
      });
  };
}

/** Aborted when the connection closes before the response has been sent. */
function disconnectSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) controller.abort(new ClientDisconnected());
  });
  return controller.signal;
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function createRouter(routes: ReadonlyMap<string, HttpApiHandler>, fallback: HttpApiHandler) {
  const exact = new Map<string, Target>();
  const prefixes: (Target & { readonly prefix: string })[] = [];
  for (const [path, handler] of routes) {
    const target = { routeKey: `ANY ${path}`, handler };
    if (path.endsWith('*')) prefixes.push({ prefix: path.slice(0, -1).toLowerCase(), ...target });
    else exact.set(path.toLowerCase(), target);
  }

  return (url: string): Target => {
    const [path = ''] = url.toLowerCase().split('?', 1);
    return (
      exact.get(path) ??
      prefixes.find(({ prefix }) => path.startsWith(prefix)) ?? { routeKey: '$default', handler: fallback }
    );
  };
}

function send(
  { method }: IncomingMessage,
  response: ServerResponse,
  { statusCode = 200, headers = {}, cookies = [], body = '', isBase64Encoded }: APIGatewayProxyStructuredResultV2,
): void {
  const content = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  // A handler that returns no body for HEAD does not know the length of GET's.
  const isLengthKnown = statusCode !== 204 && statusCode !== 304 && !(method === 'HEAD' && content.length === 0);
  if (isLengthKnown && !response.hasHeader('content-length')) response.setHeader('content-length', content.length);
  response.writeHead(statusCode).end(content);
}
