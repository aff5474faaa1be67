import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, Server } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { UpstreamError } from '../../../core/errors/index.ts';
import { deadPort, serve, serveTcp, serveTls } from '../../../packages/guarded-fetch/test/servers.ts';
import { egressFor } from './egress-for.ts';
import { REQUEST_METHODS, requestThrough } from './request-through.ts';

/** A session that may reach `host:port`. */
const openSessionTo = (host: string) => egressFor({ allow: [host] }).openProxySession({});

/** Where a session listens, and the header that it wants. */
function accountOf({ proxyUrl }: { readonly proxyUrl: string }) {
  const { port, username, password } = new URL(proxyUrl);
  return {
    port: Number(port),
    auth: `Proxy-Authorization: Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
  };
}

describe.each(REQUEST_METHODS)('a proxy session, used %s', (_how, way) => {
  it('relays the response and counts its bytes', async () => {
    const { host } = await serve((request, response) => void response.end(`you asked for ${request.url}`));
    const session = await openSessionTo(host);
    const received = await requestThrough(session.proxyUrl, `http://${host}/path?query`, way);
    expect(received).toEqual({ isComplete: true, output: expect.stringContaining('you asked for /path?query') });
    expect(session.bytesReceived()).toBeGreaterThan('you asked for /path?query'.length);
    expect(session.isRefused()).toBe(false);
  });

  it('relays a long body completely', async () => {
    const body = randomBytes(4 << 20).toString('hex');
    const { host } = await serve((_request, response) => void response.end(body));
    const session = await openSessionTo(host);
    const { output } = await requestThrough(session.proxyUrl, `http://${host}/`, way);
    expect(output.endsWith(body)).toBe(true);
    expect(session.bytesReceived()).toBeGreaterThan(body.length);
  });

  it('sends no proxy headers upstream', async () => {
    const { host } = await serve((request, response) => void response.end(JSON.stringify(request.rawHeaders)));
    const session = await openSessionTo(host);
    const { output } = await requestThrough(session.proxyUrl, `http://${host}/`, {
      ...way,
      headers: { 'proxy-x': 'secret' },
    });
    const [, body = ''] = /(\[.*\])/.exec(output) ?? [];
    expect(body.toLowerCase()).toContain('user-agent');
    expect(body.toLowerCase()).not.toMatch(/proxy-|secret|via|forwarded/);
  });

  it('answers 403 and sets refused when the guard refuses', async () => {
    const inside = await serve((_request, response) => void response.end('secret'));
    const egress = egressFor({ names: { 'inside.test': ['127.0.0.1', '10.0.0.1'] } });
    const hosts = [
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '[::ffff:127.0.0.1]',
      'localhost',
      'inside.test',
      'unknown.test',
    ];
    for (const host of hosts) {
      const session = await egress.openProxySession({});
      const { output } = await requestThrough(session.proxyUrl, `http://${host}:${inside.port}/`, way);
      expect(output, host).toMatch(/^HTTP\/1\.1 403 /);
      expect(output.toLowerCase(), host).toContain('x-egress: refused');
      expect(session.isRefused(), host).toBe(true);
      session.close();
    }
    expect(inside.taken()).toBe(0);
  });

  it('connects to the address that was checked when DNS changes afterwards', async () => {
    const { port } = await serve((_request, response) => void response.end('here'));
    let lookups = 0;
    const lookup = async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
    const session = await egressFor({ lookup, allow: [`127.0.0.1:${port}`] }).openProxySession({});
    const { output } = await requestThrough(session.proxyUrl, `http://rebinding.test:${port}/`, way);
    expect(output).toContain('here');
    expect(lookups).toBe(1);
  });

  it('answers 407 without valid credentials', async () => {
    const { host } = await serve((_request, response) => void response.end('secret'));
    const egress = egressFor({ allow: [host] });
    const session = await egress.openProxySession({});
    const other = new URL(session.proxyUrl);
    const wrong = [`http://${other.host}`, `http://a:b@${other.host}`, `http://${other.username}:x@${other.host}`];
    for (const proxy of wrong)
      expect((await requestThrough(proxy, `http://${host}/`, way)).output).toMatch(/^HTTP\/1\.1 407/);
    session.close();
    expect((await requestThrough(session.proxyUrl, `http://${host}/`, way)).output).toMatch(/^HTTP\/1\.1 407/);
  });

  it('closes its connections above maxBytes and refuses further requests', async () => {
    const origin = await serve((_request, response) => void response.end(Buffer.alloc(4 << 20)));
    const session = await egressFor({ allow: [origin.host] }).openProxySession({ maxBytes: 1 << 20 });
    const first = await requestThrough(session.proxyUrl, `http://${origin.host}/`, way);
    expect(first.isComplete).toBe(false);
    expect(first.output.length).toBeLessThan(2 << 20);
    const taken = origin.taken();
    await requestThrough(session.proxyUrl, `http://${origin.host}/`, way);
    expect(origin.taken()).toBe(taken);
    await origin.idle();
  });

  it('counts the bytes of all its requests', async () => {
    const { host } = await serve((_request, response) => void response.end(Buffer.alloc(300_000)));
    const session = await egressFor({ allow: [host] }).openProxySession({ maxBytes: 700_000 });
    const ends = [];
    for (let turn = 0; turn < 3; turn++) ends.push(await requestThrough(session.proxyUrl, `http://${host}/`, way));
    expect(ends.map(({ isComplete }) => isComplete)).toEqual([true, true, false]);
  });

  it('propagates a truncated response', async () => {
    const { host } = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 10 }).write('five5', () => response.destroy());
    });
    const session = await openSessionTo(host);
    expect((await requestThrough(session.proxyUrl, `http://${host}/`, way)).isComplete).toBe(false);
  });

  it('answers 502 when the upstream is unreachable', async () => {
    const port = await deadPort();
    const session = await egressFor({ allow: [`127.0.0.1:${port}`] }).openProxySession({});
    const { output } = await requestThrough(session.proxyUrl, `http://127.0.0.1:${port}/`, way);
    expect(output).toMatch(/^HTTP\/1\.1 5\d\d /);
    expect(output.toLowerCase()).not.toContain('x-egress');
    expect(session.isRefused()).toBe(false);
  });

  it.each(['the session', 'the egress'])('closes its connections when %s is closed', async (what) => {
    const origin = await serve((_request, response) => void response.write('first'));
    const egress = egressFor({ allow: [origin.host] });
    const session = await egress.openProxySession({});
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
    else await egress.close();
    await Promise.all([closed, origin.idle()]);
  });
});

describe('createForwardProxy', () => {
  it('listens for the next session where it could not for one, and closes without', async () => {
    const listen = vi.spyOn(Server.prototype, 'listen').mockImplementationOnce(function fail(this: Server) {
      queueMicrotask(() => this.emit('error', new Error('too many open files')));
      return this;
    });
    onTestFinished(() => listen.mockRestore());
    const egress = egressFor({});
    await expect(egress.openProxySession({})).rejects.toThrow('too many open files');
    (await egress.openProxySession({})).close();
    await egress.close();
  });

  it('tunnels TLS by CONNECT', async () => {
    const { host } = await serveTls((_request, response) => void response.end('secure'));
    const session = await openSessionTo(host);
    const { output } = await requestThrough(session.proxyUrl, `https://${host}/`);
    expect(output).toContain('secure');
  });

  it('counts the bytes of each session separately', async () => {
    const { host } = await serve((_request, response) => void response.end(Buffer.alloc(100_000)));
    const egress = egressFor({ allow: [host] });
    const [one, two] = await Promise.all([egress.openProxySession({}), egress.openProxySession({})]);
    await requestThrough(one.proxyUrl, `http://${host}/`);
    expect(one.bytesReceived()).toBeGreaterThan(100_000);
    expect(two.bytesReceived()).toBe(0);
  });

  it('rejects new sessions once closed', async () => {
    const egress = egressFor({});
    await egress.openProxySession({});
    await egress.close();
    await egress.close();
    await expect(egress.openProxySession({})).rejects.toThrow(UpstreamError);
  });

  it('listens on loopback only', async () => {
    const session = await egressFor({}).openProxySession({});
    expect(new URL(session.proxyUrl).hostname).toBe('127.0.0.1');
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
    const session = await egressFor({}).openProxySession({});
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
    const session = await egressFor({ allow: [origin.host] }).openProxySession({});
    const { port, auth } = accountOf(session);
    const child = connect(port, '127.0.0.1');
    child.write(`CONNECT ${origin.host} HTTP/1.1\r\n${auth}\r\n\r\n`);
    await once(child, 'data');
    child.resetAndDestroy();
    await origin.idle();
  });
});
