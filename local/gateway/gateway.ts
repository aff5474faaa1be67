import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { problems } from '../../core/api/index.ts';
import { renderJson } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import { toContext, toHttpApiEvent } from './http-api-event.ts';

/** A Lambda function behind an HTTP API, payload format 2.0. */
export type HttpApiHandler = (
  event: APIGatewayProxyEventV2,
  context: never,
) => Promise<APIGatewayProxyStructuredResultV2>;

export interface GatewayOptions {
  /** By path, matched without regard to case; one that ends in `*` takes every path that begins so. */
  readonly routes: ReadonlyMap<string, HttpApiHandler>;
  /** Answers every other path. */
  readonly fallback: HttpApiHandler;
  readonly log: Log;
}

/** What a Node HTTP server calls for each request. */
export type Gateway = (request: IncomingMessage, response: ServerResponse) => void;

interface Target {
  readonly routeKey: string;
  readonly handler: HttpApiHandler;
}

/** The Lambdas on one machine: turns HTTP requests into the events of an HTTP API, and results into answers. */
export function createGateway({ routes, fallback, log }: GatewayOptions): Gateway {
  const find = createRouter(routes, fallback);

  const answer = async (request: IncomingMessage): Promise<APIGatewayProxyStructuredResultV2> => {
    try {
      const { routeKey, handler } = find(request.url ?? '/');
      const event = toHttpApiEvent(request, routeKey);
      return await handler(event, toContext(event) as never);
    } catch (error) {
      log.error('A handler failed', { error: String(error) });
      const { details } = problems.internal();
      return { statusCode: details.status, ...renderJson(details, request.headers.accept) };
    }
  };

  return (request, response) => {
    // No operation reads a body: what comes is dropped, and the connection ends with the answer rather than wait for it.
    request.resume();
    if (hasBody(request)) response.shouldKeepAlive = false;
    answer(request)
      .then((result) => send(request, response, result))
      .catch((error) => {
        log.error('An answer could not be sent', { error: String(error) });
        response.destroy();
      });
  };
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function createRouter(routes: ReadonlyMap<string, HttpApiHandler>, fallback: HttpApiHandler) {
  const exact = new Map<string, Target>();
  const beginnings: (Target & { readonly beginning: string })[] = [];
  for (const [path, handler] of routes) {
    const target = { routeKey: `ANY ${path}`, handler };
    if (path.endsWith('*')) beginnings.push({ beginning: path.slice(0, -1).toLowerCase(), ...target });
    else exact.set(path.toLowerCase(), target);
  }

  return (url: string): Target => {
    const [path = ''] = url.toLowerCase().split('?', 1);
    return (
      exact.get(path) ??
      beginnings.find(({ beginning }) => path.startsWith(beginning)) ?? { routeKey: '$default', handler: fallback }
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
  // A HEAD without its body does not say how long that would be.
  const saysLength = statusCode !== 204 && !(method === 'HEAD' && content.length === 0);
  if (saysLength && !response.hasHeader('content-length')) response.setHeader('content-length', content.length);
  response.writeHead(statusCode).end(content);
}
