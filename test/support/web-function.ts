import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Container } from '../images/container.ts';
import { freePort } from './free-port.ts';
import { listen } from './listen.ts';

export interface WebFunctionOptions {
  /** The package, whose `index.js` Lambda starts. */
  readonly dir: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** One environment of a Lambda Web Function, behind its endpoint. */
export interface WebFunctionFixture {
  /** Of the endpoint. */
  readonly url: string;
  readonly server: Container;
  /** Ends every open request as Lambda does after the `TimeoutSeconds` of a revision, at most 900. */
  reachTimeLimit(): void;
  /**
   * Ends the environment as Lambda does: no new requests, SIGTERM, and SIGKILL later. Lambda waits a second; this waits for
   * busy machines. @returns the exit code
   */
  shutDown(): Promise<number | null>;
  close(): Promise<void>;
}

const INIT_TIMEOUT_MS = 10_000;
/** Below the drain time of a container, so that a function that drains as long is killed. */
const SHUTDOWN_MS = 60_000;
const ENDPOINT_NAME = 'prod';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'OPTIONS', 'DELETE'];
/** Removed from requests, besides those that `Connection` names and those of Lambda itself. */
const REMOVED_HEADERS = [
  ...['connection', 'keep-alive', 'upgrade', 'expect', 'te', 'trailer', 'x-real-ip'],
  ...['proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['x-http-method-override', 'x-http-method', 'x-method-override'],
  // Validated by the endpoint, whose authentication is IamAuth.
  'authorization',
];

/**
 * Imitates what AWS documents of Web Functions (Lambda Developer Guide, `web-functions-env-lifecycle`,
 * `web-functions-http`, `web-functions-revisions-timeout`): the start of `index.js` with an address to listen on within ten
 * seconds, the headers of requests, the time limit of a request, and the end of an environment. Signatures are not
 * imitated, and bodies pass unchanged, with the length that the function states.
 */
export async function startWebFunction({ dir, environment }: WebFunctionOptions): Promise<WebFunctionFixture> {
  const port = await freePort();
  const server = new Container(
    spawn(process.execPath, [join(dir, 'index.js')], {
      cwd: dir,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', ...environment, AWS_LAMBDA_HTTP_ENDPOINT: `127.0.0.1:${port}` },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  try {
    await listening(port, server);
  } catch (error) {
    await server.end();
    throw error;
  }
  let isRouted = true;
  const timeLimit = new EventEmitter();
  const endpoint = createServer((incoming, response) => {
    if (isRouted && METHODS.includes(incoming.method ?? '')) passOn(incoming, response, port, timeLimit);
    else response.writeHead(isRouted ? 400 : 503).end();
  });
  const { url, close } = await listen(endpoint);
  return {
    url,
    server,
    reachTimeLimit: () => void timeLimit.emit('reached'),
    async shutDown() {
      isRouted = false;
      server.kill('SIGTERM');
      const kill = setTimeout(() => server.kill('SIGKILL'), SHUTDOWN_MS);
      return server.ended.finally(() => clearTimeout(kill));
    },
    async close() {
      await close();
      await server.end();
    },
  };
}

function passOn(incoming: IncomingMessage, response: ServerResponse, port: number, timeLimit: EventEmitter): void {
  const { method, url } = incoming;
  const upstream = request({ host: '127.0.0.1', port, method, path: url, headers: headersFor(incoming), agent: false });
  const end = () => {
    // A response that has begun keeps its status, and ends before its length.
    if (response.headersSent) response.destroy();
    else response.writeHead(504, { 'lambda-web-error-type': 'Runtime.RequestTimeout' }).end();
    upstream.destroy();
  };
  timeLimit.once('reached', end);
  upstream.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    pipeline(answer, response, () => upstream.destroy());
  });
  upstream.on('error', () => {
    if (response.headersSent) response.destroy();
    else if (!response.writableEnded) response.writeHead(502).end();
  });
  response.on('close', () => {
    timeLimit.off('reached', end);
    upstream.destroy();
  });
  pipeline(incoming, upstream, () => undefined);
}

function headersFor({ headers, socket }: IncomingMessage): Record<string, string | string[] | undefined> {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const kept = Object.entries(headers).filter(
    ([name]) => ![...REMOVED_HEADERS, ...named].includes(name) && !name.startsWith('lambda-web-'),
  );
  const forwarded = [headers['x-forwarded-for'], socket.remoteAddress].flat().filter(Boolean).join(', ');
  return {
    ...Object.fromEntries(kept),
    'x-forwarded-for': forwarded,
    'lambda-web-request-id': randomUUID(),
    'lambda-web-endpoint-name': ENDPOINT_NAME,
  };
}

/** Connects until the server listens. @throws Error when it ends, or takes longer than Lambda waits */
async function listening(port: number, { ended, lines }: Container): Promise<void> {
  const deadline = AbortSignal.timeout(INIT_TIMEOUT_MS);
  const end = ended.then((code) => {
    throw new Error(`The function ended with ${code} while it started: ${JSON.stringify(lines)}`);
  });
  for (;;) {
    deadline.throwIfAborted();
    if (await Promise.race([accepts(port), end])) return;
    await Promise.race([sleep(20), end]);
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy());
  });
