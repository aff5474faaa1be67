import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MAX_BODY_BYTES, operations, problems, readsBody, renderProblem } from '../../core/api/index.ts';
import { ClientDisconnected } from '../../core/errors/index.ts';
import { clientAddress } from '../../core/http/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Event, Handler, Result } from '../../lambdas/api/index.ts';
import { basePathOf } from './proxies.ts';

interface GatewayOptions {
  readonly handler: Handler;
  /** Proxies in front whose entry in X-Forwarded-For is trusted. @default 0 */
  readonly trustedProxies?: number;
  readonly log: Log;
}

const STREAM_FOLDERS = ['/api/stream/'];
const FUNCTION_PATHS: ReadonlySet<string> = new Set(
  operations.filter(({ servedBy }) => servedBy === 'function').map(({ path }) => path.toLowerCase()),
);

/**
 * Whether the stream service answers a request: all in its folders that no function has.
 * @param url path and query
 */
export function isStreamPath(url: string): boolean {
  const path = (url.split('?', 1)[0] ?? '').toLowerCase();
  return STREAM_FOLDERS.some((folder) => `${path}/`.startsWith(folder)) && !FUNCTION_PATHS.has(path);
}

/** A request listener of a Node HTTP server. */
export type Gateway = (request: IncomingMessage, response: ServerResponse) => void;

/** Runs Lambda handlers on one machine: converts requests to events of an HTTP API, and results to responses. */
export function createGateway({ handler, trustedProxies, log }: GatewayOptions): Gateway {
  const invoke = async (request: IncomingMessage, body: string | undefined, signal: AbortSignal): Promise<Result> => {
    try {
      return await handler(toEvent(request, body, trustedProxies), { signal } as never);
    } catch (error) {
      log.error('Handler failed', { error });
      const { details } = problems.internal();
      return {
        statusCode: details.status,
        ...renderProblem(details, { accept: request.headers.accept, target: request.url ?? '/' }),
      };
    }
  };

  return (request, response) => {
    // What is not read is discarded, and the connection closes after the response instead of awaiting it.
    if (hasBody(request)) response.shouldKeepAlive = false;
    const signal = disconnectSignal(response);
    readBody(request)
      .then((body) => {
        if (body !== undefined && request.complete) response.shouldKeepAlive = true;
        return invoke(request, body, signal);
      })
      .then((result) => send(request, response, result))
      .catch((error) => {
        if (!(error instanceof ClientDisconnected)) log.error('Sending response failed', { error });
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

/**
 * The body of a request to an operation that reads it, else undefined; cut beyond the limit, by which the operation refuses it.
 * @throws ClientDisconnected
 */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const chunks: Buffer[] = [];
  let length = 0;
  if (request.method === 'POST' && readsBody(path))
    try {
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        length += chunk.length;
        if (length > MAX_BODY_BYTES) break;
      }
    } catch {
      throw new ClientDisconnected();
    }
  request.resume();
  return chunks.length > 0 ? Buffer.concat(chunks, Math.min(length, MAX_BODY_BYTES + 1)).toString() : undefined;
}

/** A request as an HTTP API passes it to a function (payload format 2.0), as far as functions read it. */
function toEvent(request: IncomingMessage, body: string | undefined, trustedProxies = 0): Event {
  const { method = 'GET', url = '/', headersDistinct, socket } = request;
  const [rawPath = '', rawQueryString = ''] = url.split(/\?(.*)/s, 2);
  const headers = Object.fromEntries(
    Object.entries(headersDistinct).map(([name, values]) => [name, values?.join(',')]),
  );
  const { remoteAddress } = socket;
  const sourceIp = clientAddress({ remoteAddress, forwardedFor: headers['x-forwarded-for'], trustedProxies }) ?? '';
  return {
    rawPath,
    rawQueryString,
    headers,
    ...(body !== undefined && { body, isBase64Encoded: false }),
    requestContext: {
      requestId: randomUUID(),
      timeEpoch: Date.now(),
      http: { method, sourceIp },
      basePath: basePathOf(request),
    },
  };
}

function send(
  { method }: IncomingMessage,
  response: ServerResponse,
  { statusCode = 200, headers = {}, body = '' }: Result,
): void {
  const content = Buffer.from(body);
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, String(value));
  // A handler that returns no body for HEAD does not know the length of GET's.
  const isLengthKnown = statusCode !== 204 && statusCode !== 304 && !(method === 'HEAD' && content.length === 0);
  if (isLengthKnown && !response.hasHeader('content-length')) response.setHeader('content-length', content.length);
  response.writeHead(statusCode).end(content);
}
