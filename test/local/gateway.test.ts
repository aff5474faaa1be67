import { createServer, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Event, Handler, Result } from '../../lambdas/http-handler.ts';
import { createGateway, isStreamPath } from '../../local/service/gateway.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { listen } from '../support/listen.ts';
import { sendRequest } from '../support/request.ts';

const logged: string[] = [];
const log = { info: () => undefined, warn: () => undefined, error: (message: string) => void logged.push(message) };

/** What the handler behind `/api/Thing` saw last, and what it answers. */
let seen: Event | undefined;
let result: Result | Error = {};

const thing: Handler = async (event) => {
  seen = event;
  if (result instanceof Error) throw result;
  return result;
};

const serve = async (handler: Handler, trustedProxies = 0) =>
  closeAfterwards(await listen(createServer(createGateway({ handler, trustedProxies, log }))));
const { port, url: baseUrl } = await serve(thing);
beforeEach(() => {
  seen = undefined;
  result = { body: 'thing' };
  logged.length = 0;
});

const bodyOf = async (path: string, options?: Parameters<typeof sendRequest>[1]) =>
  (await sendRequest(baseUrl + path, options)).body.toString();

/** Sends bytes as they are and reads until the connection ends. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

describe('event', () => {
  it('has what functions read of payload format 2.0', async () => {
    const headers = { 'User-Agent': 'agent', 'X-Mixed-Case': 'é' };
    await sendRequest(`${baseUrl}/api/thing?url=https://a.example/?v=x+y&b=1&b=2`, { headers });
    expect(seen).toEqual({
      rawPath: '/api/thing',
      rawQueryString: 'url=https://a.example/?v=x+y&b=1&b=2',
      headers: expect.objectContaining({ 'user-agent': 'agent', 'x-mixed-case': 'é', host: `127.0.0.1:${port}` }),
      requestContext: {
        http: { method: 'GET', sourceIp: '127.0.0.1' },
        basePath: '',
        requestId: expect.stringMatching(/^[\w-]{36}$/),
        timeEpoch: expect.any(Number),
      },
    });
  });

  it.each(['//api/thing', '/%ZZ', '/__proto__', `/${'x'.repeat(10_000)}`])(
    'has the path %.40s as sent',
    async (path) => {
      expect(await bodyOf(path)).toBe('thing');
      expect(seen).toMatchObject({ rawPath: path, rawQueryString: '' });
    },
  );

  it('has a target that is no path', async () => {
    expect(await exchange('OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(/thing$/);
    expect(seen?.rawPath).toBe('*');
  });

  it('joins repeated headers by commas', async () => {
    await exchange(
      'GET /api/thing HTTP/1.1\r\nHost: x\r\nAccept: text/json\r\nACCEPT: text/plain\r\nConnection: close\r\n\r\n',
    );
    expect(seen?.headers?.accept).toBe('text/json,text/plain');
  });
});

describe('result', () => {
  it('becomes status, headers and body', async () => {
    result = { statusCode: 418, headers: { 'X-Number': 5, 'x-flag': true }, body: 'é' };
    const { status, headers, body } = await sendRequest(`${baseUrl}/api/thing`);
    expect(status).toBe(418);
    expect(headers).toMatchObject({ 'x-number': '5', 'x-flag': 'true', 'content-length': '2' });
    expect(body.toString()).toBe('é');
  });

  it.each([
    ['of the GET where the handler says it', 'HEAD', { headers: { 'content-length': '5' } }, '5'],
    ['of the body where there is one', 'HEAD', { body: 'thing' }, '5'],
    ['nowhere else', 'HEAD', {}, undefined],
    ['not of a 204', 'GET', { statusCode: 204 }, undefined],
  ])('has a length, but no body: %s', async (_, method, given, length) => {
    result = given;
    const { headers, body } = await sendRequest(`${baseUrl}/api/thing`, { method });
    expect([headers['content-length'], body.length]).toEqual([length, 0]);
  });
});

describe('failures', () => {
  it('responds 500 without details when a handler throws', async () => {
    result = new Error('secret');
    const { status, headers, body } = await sendRequest(`${baseUrl}/api/thing`, { headers: { accept: 'text/json' } });
    expect(status).toBe(500);
    expect(headers['content-type']).toBe('text/json; charset=utf-8');
    expect(JSON.parse(body.toString())).toEqual({
      type: '/problems/internal',
      title: 'Internal Server Error',
      status: 500,
    });
    expect(logged).toEqual(['Handler failed']);
  });

  it('closes only the connection of an invalid result', async () => {
    result = { headers: { 'x-bad': 'a\r\nb: c' }, body: 'thing' };
    await expect(sendRequest(`${baseUrl}/api/thing`)).rejects.toThrow();
    result = { body: 'as before' };
    expect(await bodyOf('/api/thing')).toBe('as before');
  });

  it('discards request bodies', async () => {
    const head = 'POST /api/thing HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n';
    expect(await exchange(`${head}${'x'.repeat(10_000)}`)).toMatch(/^HTTP\/1\.1 200 OK.*connection: close.*thing$/is);
    const chunked = 'POST /api/thing HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n';
    expect(await exchange(chunked)).toMatch(/thing$/);
  });
});

describe('client', () => {
  it('is the connection, or the entry of a trusted proxy in X-Forwarded-For', async () => {
    const clients: string[] = [];
    for (const trustedProxies of [0, 1]) {
      const handler: Handler = async (event) => {
        clients.push(event.requestContext.http.sourceIp);
        return {};
      };
      const { url } = await serve(handler, trustedProxies);
      await sendRequest(url, { headers: { 'x-forwarded-for': '203.0.113.7, 192.0.2.9:4711' } });
    }
    expect(clients).toEqual(['127.0.0.1', '192.0.2.9:4711']);
  });

  it('aborts the handler when it disconnects, and not after a response', async () => {
    const signals: AbortSignal[] = [];
    const handler = async (_event: unknown, context: { signal: AbortSignal }) => {
      signals.push(context.signal);
      if (signals.length === 2) await new Promise((resolve) => context.signal.addEventListener('abort', resolve));
      return { body: 'late' };
    };
    const { url, port: slowPort, close } = await serve(handler as Handler);
    await sendRequest(url);
    const client = httpRequest({ port: slowPort, agent: false });
    client.on('error', () => undefined).end();
    await expect.poll(() => signals.length).toBe(2);
    client.destroy();
    await expect.poll(() => signals[1]?.aborted).toBe(true);
    expect(signals[1]?.reason).toMatchObject({ name: 'ClientDisconnected' });
    expect(signals[0]?.aborted).toBe(false);
    // Its answer comes late, and is no failure.
    await close();
    expect(logged).toEqual([]);
  });
});

describe('bodies', () => {
  const send = (path: string, body: string, method = 'POST') => sendRequest(baseUrl + path, { method, body });

  it('are read for operations that read them, in any case', async () => {
    await send('/MCP?x', '{"ä":1}');
    expect([seen?.body, seen?.isBase64Encoded]).toEqual(['{"ä":1}', false]);
  });

  it('are discarded for other methods', async () => {
    const { headers } = await send('/mcp', 'x'.repeat(100_000), 'PUT');
    expect(seen).not.toHaveProperty('body');
    expect(headers.connection).toBe('close');
  });

  it('are cut beyond the limit, by which the operation refuses them', async () => {
    const { status } = await send('/mcp', 'x'.repeat(1_000_000));
    expect([status, seen?.body?.length]).toEqual([200, 64 * 1024 + 1]);
  });

  it('that end early invoke nothing', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nfour');
    socket.end();
    await text(socket);
    expect([seen, logged]).toEqual([undefined, []]);
  });
});

describe('isStreamPath', () => {
  it.each([
    ['/api/Stream/Media/key?format=mp3', true],
    ['/API/stream/archive/progress/x', true],
    ['/api/Stream/Unknown', true],
    ['/api/stream?x=/', true],
    ['/api/Stream/Archive/', true],
    ['/api/STREAM/archive?url=/api/Stream/Media/x', false],
    ['/api/Fetch/GetResource?url=/api/stream/', false],
    ['/api/streams/x', false],
    ['/', false],
  ])('%s: %j', (url, expected) => expect(isStreamPath(url)).toBe(expected));
});
