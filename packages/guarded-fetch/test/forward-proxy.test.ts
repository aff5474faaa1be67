import { once } from 'node:events';
import { connect, Server } from 'node:net';
import { UpstreamError } from '@reelay/guarded-fetch';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { REQUEST_METHODS, requestThrough } from './request-through.ts';
import { clientFor, deadPort, serve, serveTcp } from './servers.ts';

/** A session that may reach `host:port`. */
const openSessionTo = (host: string, options = {}) => clientFor({ allow: [host] }).openProxySession(options);

/** Where a session listens, and the header that it wants. */
function accountOf({ proxyUrl }: { readonly proxyUrl: string }) {
  const { port, username, password } = new URL(proxyUrl);
  return {
    port: Number(port),
    auth: `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  };
}

describe.each(REQUEST_METHODS)('a proxy session, used %s', (_how, way) => {
  it('answers 407 without valid credentials', async () => {
    const { host } = await serve((_request, response) => void response.end('secret'));
    const session = await openSessionTo(host);
    const other = new URL(session.proxyUrl);
    const wrong = [`http://${other.host}`, `http://a:b@${other.host}`, `http://${other.username}:x@${other.host}`];
    const answer = async (proxy: string) => (await requestThrough(proxy, `http://${host}/`, way)).output;
    for (const proxy of wrong) expect(await answer(proxy)).toMatch(/^HTTP\/1\.1 407/);
    session.close();
    expect(await answer(session.proxyUrl)).toMatch(/^HTTP\/1\.1 407/);
  });

  it('counts the bytes of all its requests, and refuses those above maxBytes', async () => {
    const origin = await serve((_request, response) => void response.end(Buffer.alloc(300_000)));
    const session = await openSessionTo(origin.host, { maxBytes: 700_000 });
    const ask = () => requestThrough(session.proxyUrl, `http://${origin.host}/`, way);
    expect([(await ask()).isComplete, (await ask()).isComplete, (await ask()).isComplete]).toEqual([true, true, false]);
    const taken = origin.taken();
    await ask();
    expect(origin.taken()).toBe(taken);
  });

  it('propagates a truncated response', async () => {
    const { host } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('five5', () => response.destroy());
    });
    const session = await openSessionTo(host);
    expect((await requestThrough(session.proxyUrl, `http://${host}/`, way)).isComplete).toBe(false);
  });

  it('answers 502 when the upstream is unreachable', async () => {
    const host = `127.0.0.1:${await deadPort()}`;
    const session = await openSessionTo(host);
    const { output } = await requestThrough(session.proxyUrl, `http://${host}/`, way);
    expect(output).toMatch(/^HTTP\/1\.1 5\d\d /);
    expect(output.toLowerCase()).not.toContain('x-egress');
    expect(session.isRefused()).toBe(false);
  });

  it.each(['the session', 'the client'])('closes its connections when %s is closed', async (what) => {
    const origin = await serve((_request, response) => void response.write('first'));
    const client = clientFor({ allow: [origin.host] });
    const session = await client.openProxySession({});
    const { port, auth } = accountOf(session);
    const target = way.isTunnelled ? `CONNECT ${origin.host}` : `GET http://${origin.host}/`;
    const child = connect(port, '127.0.0.1').on('error', () => undefined);
    child.write(`${target} HTTP/1.1\r\nHost: ${origin.host}\r\n${auth}\r\n\r\n`);
    if (way.isTunnelled) child.write(`GET / HTTP/1.1\r\nHost: ${origin.host}\r\n\r\n`);
    let received = '';
    for await (const chunk of child.iterator({ destroyOnReturn: false })) {
      received += chunk;
      if (received.includes('first')) break;
    }
    const closed = once(child, 'close');
    if (what === 'the session') session.close();
    else await client.close();
    await Promise.all([closed, origin.idle()]);
  });
});

describe('the forward proxy', () => {
  it('listens for the next session where it could not for one, and closes without', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function fail(this: Server) {
      queueMicrotask(() => this.emit('error', new Error('too many open files')));
      return this;
    });
    onTestFinished(() => listen.mockRestore());
    const client = clientFor({});
    await expect(client.openProxySession({})).rejects.toThrow('too many open files');
    (await client.openProxySession({})).close();
    await client.close();
  });

  it('counts the bytes of each session separately', async () => {
    const { host } = await serve((_request, response) => void response.end(Buffer.alloc(100_000)));
    const client = clientFor({ allow: [host] });
    const [one, two] = await Promise.all([client.openProxySession({}), client.openProxySession({})]);
    await requestThrough(one.proxyUrl, `http://${host}/`);
    expect(one.bytesReceived()).toBeGreaterThan(100_000);
    expect(two.bytesReceived()).toBe(0);
  });

  it('listens on loopback only, and rejects new sessions once closed', async () => {
    const client = clientFor({});
    const { proxyUrl } = await client.openProxySession({});
    expect(new URL(proxyUrl).hostname).toBe('127.0.0.1');
    await client.close();
    await client.close();
    await expect(client.openProxySession({})).rejects.toThrow(UpstreamError);
  });

  it.each([
    ['another scheme', 'GET ftp://1.1.1.1/x', 403],
    ['TLS without CONNECT', 'GET https://1.1.1.1/', 403],
    ['a path alone', 'GET /', 400],
    ['no port to connect to', 'CONNECT example.com', 400],
    ['a private address in odd notation', 'CONNECT 0x7f.1:80', 403],
    ['a private address in percent-encoding', 'CONNECT %31%32%37.0.0.1:80', 403],
    ['a host that is none', 'CONNECT a%00b:80', 403],
    ['garbage', '\x16\x03\x01', 400],
  ])('rejects %s', async (_what, request, status) => {
    const session = await clientFor({}).openProxySession({});
    const { port, auth } = accountOf(session);
    const child = connect(port, '127.0.0.1');
    child.end(`${request} HTTP/1.1\r\nHost: x\r\n${auth}\r\n\r\n`);
    const answer = Buffer.concat(await child.toArray()).toString();
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer.includes('x-egress: refused')).toBe(status === 403);
    expect(session.isRefused()).toBe(status === 403);
  });

  it('closes the upstream connection when the child disconnects', async () => {
    const origin = await serveTcp((socket) => void socket.write('first'));
    const { port, auth } = accountOf(await openSessionTo(origin.host));
    const child = connect(port, '127.0.0.1');
    child.write(`CONNECT ${origin.host} HTTP/1.1\r\n${auth}\r\n\r\n`);
    await once(child, 'data');
    child.resetAndDestroy();
    await origin.idle();
  });
});
