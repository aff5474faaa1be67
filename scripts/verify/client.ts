import { setTimeout as delay } from 'node:timers/promises';
import { Agent, type Dispatcher } from 'undici';

/** A response, with as much of its body as was read. */
export interface Response {
  readonly status: number;
  /** Lower-case names; repeated fields joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Whether the body was cut at `maxBytes`. */
  readonly isCut: boolean;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes of the body after which the connection is closed. @default 4 MB */
  readonly maxBytes?: number;
  /** Whether the access key is left out. @default false */
  readonly isAnonymous?: boolean;
  /** Whether 429 and 503 are results instead of reasons to wait. @default false */
  readonly isRefusalExpected?: boolean;
}

/** How one run sends requests, and bounds on what it may send, receive and wait. */
export interface Limits {
  readonly maxRequests: number;
  readonly maxBytes: number;
  /** Waiting for Retry-After, all requests together. */
  readonly maxWaitMs: number;
  /** Between the starts of two requests: the API of a deployment has a throttle. */
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** Of a private instance; sent as X-Api-Key. */
  readonly accessKey?: string;
}

/** What a run has sent and received. */
export interface Usage {
  requests: number;
  bytes: number;
  waitedMs: number;
}

/** Sends requests to one instance, one after another, within the limits. */
export interface Client {
  readonly baseUrl: string;
  readonly usage: Readonly<Usage>;
  /**
   * Requests a path without normalization. Waits as Retry-After says when the instance answers 429 or 503.
   * @throws LimitReached when the run may send, receive or wait no more
   * @throws Error when the connection fails or breaks
   */
  request(path: string, options?: RequestOptions): Promise<Response>;
  close(): Promise<void>;
}

/** A limit of the run is used up. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
}

const DEFAULT_MAX_BYTES = 4_000_000;
/** Without a Retry-After, as API Gateway answers its throttle. */
const DEFAULT_RETRY_MS = 2_000;

/** @param baseUrl without a slash at the end; its path, if any, precedes the path of each request */
export function createClient(baseUrl: string, limits: Limits): Client {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const usage: Usage = { requests: 0, bytes: 0, waitedMs: 0 };
  const agent = new Agent({
    connections: 1,
    pipelining: 0,
    headersTimeout: limits.timeoutMs,
    bodyTimeout: limits.timeoutMs,
    connect: { timeout: limits.timeoutMs },
  });
  const credentials = limits.accessKey ? { 'x-api-key': limits.accessKey } : {};
  let nextStart = 0;

  const send = async (
    path: string,
    { method = 'GET', headers = {}, maxBytes, isAnonymous }: RequestOptions,
  ): Promise<Response> => {
    if (usage.requests >= limits.maxRequests) throw new LimitReached(`More than ${limits.maxRequests} requests`);
    usage.requests += 1;
    await delay(Math.max(0, nextStart - performance.now()));
    nextStart = performance.now() + limits.intervalMs;
    const answer = await agent.request({
      origin,
      path: prefix + path,
      method: method as Dispatcher.HttpMethod,
      headers: { 'user-agent': 'reelay-verify', ...(!isAnonymous && credentials), ...headers },
    });
    const fields = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
    const received = await readBody(
      answer.body,
      Math.min(maxBytes ?? DEFAULT_MAX_BYTES, limits.maxBytes - usage.bytes),
    );
    usage.bytes += received.body.length;
    if (usage.bytes >= limits.maxBytes) throw new LimitReached(`More than ${limits.maxBytes} bytes`);
    return { status: answer.statusCode, headers: Object.fromEntries(fields), ...received };
  };

  return {
    baseUrl,
    usage,
    async request(path, options = {}) {
      for (;;) {
        const response = await send(path, options);
        const isRefused = response.status === 429 || response.status === 503;
        if (!isRefused || options.isRefusalExpected) return response;
        const waitMs = Number(response.headers['retry-after']) * 1_000 || DEFAULT_RETRY_MS;
        if (usage.waitedMs + waitMs > limits.maxWaitMs)
          throw new LimitReached(
            `Still ${response.status} after waiting ${usage.waitedMs / 1_000} s: ${textOf(response)}`,
          );
        usage.waitedMs += waitMs;
        await delay(waitMs);
      }
    },
    close: () => agent.destroy(),
  };
}

const MAX_QUOTED = 200;
/** The beginning of a body, for messages. */
export const textOf = ({ body }: Response): string => body.toString('utf8', 0, MAX_QUOTED);

async function readBody(body: Dispatcher.ResponseData['body'], maxBytes: number) {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    // Leaving the loop closes the connection.
    if (length > maxBytes) return { body: Buffer.concat(chunks).subarray(0, maxBytes), isCut: true };
  }
  return { body: Buffer.concat(chunks), isCut: false };
}
