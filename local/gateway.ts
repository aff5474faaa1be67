import type { IncomingMessage, ServerResponse } from 'node:http';
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda';
import { type Log, problems, renderJson } from '../layers/contract/index.ts';
import { toContext, toHttpApiEvent } from './http-api-event.ts';

/** A Lambda function behind an HTTP API, payload format 2.0. */
export type HttpApiHandler = (
  event: APIGatewayProxyEventV2,
  context: Context,
) => Promise<APIGatewayProxyStructuredResultV2>;

export interface GatewayOptions {
  /** By path, matched without regard to case; a path that ends in `/{proxy+}` takes everything below it. */
  readonly handlers: Readonly<Record<string, HttpApiHandler>>;
  /** Answers every other path. */
  readonly otherwise: HttpApiHandler;
  readonly log: Log;
}

/** What a Node HTTP server calls for each request. */
export type Gateway = (request: IncomingMessage, response: ServerResponse) => void;

/** The Lambdas on one machine: turns HTTP requests into the events of an HTTP API, and results into answers. */
export function createGateway({ handlers, otherwise, log }: GatewayOptions): Gateway {
  const route = createRouter(handlers, otherwise);

  const answer = async (request: IncomingMessage): Promise<APIGatewayProxyStructuredResultV2> => {
    try {
      const { routeKey, handler } = route(request.url ?? '/');
      const event = toHttpApiEvent(request, routeKey);
      return await handler(event, toContext(event));
    } catch (error) {
      log.error('A handler failed', { error });
      const { details } = problems.internal();
      return { statusCode: details.status, ...renderJson(details, request.headers.accept) };
    }
  };

  return (request, response) => {
    // No operation reads a body: what comes is dropped, and the connection ends with the answer rather than wait for it.
    request.resume();
    if (hasBody(request)) response.shouldKeepAlive = false;
    void answer(request).then((result) => send(response, result));
  };
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

function createRouter(handlers: GatewayOptions['handlers'], otherwise: HttpApiHandler) {
  const exact = new Map<string, { routeKey: string; handler: HttpApiHandler }>();
  const below: { prefix: string; routeKey: string; handler: HttpApiHandler }[] = [];
  for (const [path, handler] of Object.entries(handlers)) {
    const routeKey = `ANY ${path}`;
    const prefix = path.toLowerCase().replace(/\{proxy\+\}$/, '');
    if (prefix.length < path.length) below.push({ prefix, routeKey, handler });
    else exact.set(prefix, { routeKey, handler });
  }

  return (url: string) => {
    const [path = ''] = url.toLowerCase().split('?', 1);
    const found = exact.get(path) ?? below.find(({ prefix }) => path.startsWith(prefix) && path !== prefix);
    return found ?? { routeKey: '$default', handler: otherwise };
  };
}

function send(response: ServerResponse, result: APIGatewayProxyStructuredResultV2): void {
  const { statusCode = 200, headers = {}, multiValueHeaders = {}, cookies = [], body = '', isBase64Encoded } = result;
  const content = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  for (const [name, values] of Object.entries(multiValueHeaders)) response.setHeader(name, values.map(String));
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  // A HEAD says how long the body of the GET is.
  if (statusCode !== 204 && !response.hasHeader('content-length')) response.setHeader('content-length', content.length);
  response.writeHead(statusCode).end(content);
}
