import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { openSocksTunnel } from '../../../core/egress/proxy/socks-tunnel.ts';
import { EgressRefused, UpstreamError } from '../../../core/errors/errors.ts';
import { itWith } from '../../support/clients.ts';
import { certificate } from './certificate.ts';
import { curl } from './curl.ts';
import { deadPort, egressFor, serve, serveProxy, serveSocks, serveTcp, serveTls } from './servers.ts';

const PUBLIC = { 'origin.test': ['93.184.216.34'], 'inside.test': ['10.0.0.1'] };

describe('nextIdentity', () => {
  it('returns direct without proxies', () => {
    expect(egressFor({}).nextIdentity()).toBe('direct');
  });

  it('returns the proxies in turn, under opaque ids', () => {
    const outgoingProxies = ['http://user:secret@proxy-a.example:8080', 'https://proxy-b.example'];
    const egress = egressFor({ outgoingProxies });
    const [first, second, third] = [egress.nextIdentity(), egress.nextIdentity(), egress.nextIdentity()];
    expect(first).not.toBe(second);
    expect(third).toBe(first);
    expect(first + second).not.toMatch(/user|secret|example|8080/);
    expect(egressFor({ outgoingProxies }).nextIdentity()).toBe(first);
  });

  it.each([
    'ftp://proxy.example',
    'user:secret@proxy.example:80',
    'socks4://secret@x',
    '',
    'http://user:secret%@host:9',
    'http://host:9/?secret',
    'socks5://user:secret%@host:9',
    'socks5://host:9/secret',
    `socks5://user:${'secret'.repeat(50)}@host:9`,
    '10.1.2.3:99999:alice:secret',
  ])('rejects %j without repeating it', (url) => {
    const start = () => createEgress({ allow: [], outgoingProxies: ['http://good.example', url] });
    expect(start).toThrow(/^Outgoing proxy 2 [^\n]+$/);
    expect(start).not.toThrow('secret');
  });
});

describe('a request through an outgoing proxy', () => {
  it('sends http by absolute URL, credentials to the proxy only', async () => {
    const origin = await serve((request, response) => void response.end(JSON.stringify(request.headers)));
    const proxy = await serveProxy({ 'origin.test': origin.port });
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC });
    const { body } = await egress.request('http://origin.test/path', { identity: egress.nextIdentity() });
    const got = JSON.parse(await text(body));
    expect(got).toMatchObject({ host: 'origin.test' });
    expect(got).not.toHaveProperty('proxy-authorization');
    expect(proxy.seen).toEqual(['GET http://origin.test/path']);
  });

  it('tunnels https by CONNECT', async () => {
    const origin = await serveTls((_request, response) => void response.end('secure'));
    const proxy = await serveProxy({ 'origin.test:443': origin.port });
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC, ca: certificate.cert });
    const { body } = await egress.request('https://origin.test/', { identity: egress.nextIdentity() });
    expect(await text(body)).toBe('secure');
    expect(proxy.seen).toEqual(['CONNECT origin.test:443']);
  });

  it('checks every hop before the proxy is contacted', async () => {
    const origin = await serve((_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    });
    const proxy = await serveProxy({ 'origin.test': origin.port });
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC });
    const identity = egress.nextIdentity();
    for (const url of ['http://127.0.0.1/', 'https://inside.test/', 'http://unknown.test/', 'http://origin.test/'])
      await expect(egress.request(url, { identity })).rejects.toThrow(EgressRefused);
    expect(proxy.seen).toEqual(['GET http://origin.test/']);
  });

  it('connects directly without an identity', async () => {
    const origin = await serve((_request, response) => void response.end('direct'));
    const proxy = await serveProxy({});
    const egress = egressFor({ outgoingProxies: [proxy.url], allow: [origin.host] });
    expect(await text((await egress.request(`http://${origin.host}/`)).body)).toBe('direct');
    expect(proxy.seen).toEqual([]);
  });

  it.each(['http', 'https'])(
    'rejects with UpstreamError when the proxy is down or rejects the credentials (%s)',
    async (scheme) => {
      const proxy = await serveProxy({});
      const wrong = proxy.url.replace('user:', 'stranger:');
      for (const url of [`http://127.0.0.1:${await deadPort()}`, wrong]) {
        const egress = egressFor({ outgoingProxies: [url], names: PUBLIC });
        const request = egress.request(`${scheme}://origin.test/`, { identity: egress.nextIdentity() });
        await expect(request).rejects.toThrow(UpstreamError);
      }
    },
  );

  it.each(['http', 'https'])('rejects with UpstreamError when the proxy does not respond (%s)', async (scheme) => {
    const silent = await serveTcp((socket) => void socket.resume());
    const egress = egressFor({ outgoingProxies: [`http://${silent.host}`], names: PUBLIC, connectTimeoutMs: 100 });
    const request = egress.request(`${scheme}://origin.test/`, {
      identity: egress.nextIdentity(),
      stallTimeoutMs: 100,
    });
    await expect(request).rejects.toThrow(UpstreamError);
  });

  it('uses another proxy, always the same, when its own is no longer configured, and warns once', async () => {
    const origin = await serve((_request, response) => void response.end('x'));
    const [a, b] = await Promise.all([
      serveProxy({ 'origin.test': origin.port }),
      serveProxy({ 'origin.test': origin.port }),
    ]);
    const warnings: unknown[] = [];
    const log = {
      info: () => undefined,
      error: () => undefined,
      warn: (...said: unknown[]) => void warnings.push(said),
    };
    const options = { names: PUBLIC, outgoingProxies: [a.url, b.url], log };
    for (let start = 0; start < 2; start++) {
      const egress = egressFor(options);
      for (let turn = 0; turn < 2; turn++)
        (await egress.request('http://origin.test/', { identity: 'proxy-gone' })).body.resume();
    }
    expect([a.seen.length, b.seen.length].sort()).toEqual([0, 4]);
    expect(warnings).toHaveLength(2);
    expect(JSON.stringify(warnings)).not.toMatch(/pass|127\.0\.0\.1/);
  });

  it('connects directly when no proxy is configured any more', async () => {
    const { host } = await serve((_request, response) => void response.end('direct'));
    const { body } = await egressFor({ allow: [host] }).request(`http://${host}/`, { identity: 'proxy-gone' });
    expect(await text(body)).toBe('direct');
  });
});

describe('a proxy session through an outgoing proxy', () => {
  const it = itWith('curl');

  it.each([
    ['by absolute URL', [], 'GET http://origin.test/'],
    ['by CONNECT', ['--proxytunnel'], 'CONNECT origin.test:80'],
  ])('connects %s, counts bytes and sends none of its own credentials upstream', async (_way, flags, line) => {
    const origin = await serve((request, response) => void response.end(JSON.stringify(request.headers)));
    const proxy = await serveProxy({ 'origin.test': origin.port, 'origin.test:80': origin.port });
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC });
    const session = await egress.openProxySession({ identity: egress.nextIdentity() });
    const { output } = await curl(session.proxyUrl, ...flags, 'http://origin.test/');
    expect(output).toContain('"host":"origin.test"');
    expect(output).not.toContain('proxy-authorization');
    expect(proxy.seen).toEqual([line]);
    expect(JSON.stringify(proxy.headers())).not.toContain(new URL(session.proxyUrl).password);
    expect(session.bytesReceived()).toBeGreaterThan(50);
  });

  it.each(methods())('checks the destination before the proxy is contacted (%s)', async (_way, flags) => {
    const proxy = await serveProxy({});
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC });
    for (const host of ['127.0.0.1', 'inside.test', 'unknown.test']) {
      const session = await egress.openProxySession({ identity: egress.nextIdentity() });
      expect((await curl(session.proxyUrl, ...flags, `http://${host}/`)).output).toMatch(/^HTTP\/1\.1 403/);
      expect(session.refused()).toBe(true);
    }
    expect(proxy.seen).toEqual([]);
  });

  it.each(methods())('answers 502 when the proxy is down or rejects the credentials (%s)', async (_way, flags) => {
    const proxy = await serveProxy({});
    for (const url of [`http://127.0.0.1:${await deadPort()}`, proxy.url.replace('user:', 'stranger:')]) {
      const egress = egressFor({ outgoingProxies: [url], names: PUBLIC });
      const session = await egress.openProxySession({ identity: egress.nextIdentity() });
      expect((await curl(session.proxyUrl, ...flags, 'http://origin.test/')).output).toMatch(/^HTTP\/1\.1 5\d\d/);
    }
  });

  it('closes its connections above maxBytes', async () => {
    const origin = await serve((_request, response) => void response.end(Buffer.alloc(4 << 20)));
    const proxy = await serveProxy({ 'origin.test': origin.port, 'origin.test:80': origin.port });
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC });
    for (const flags of [[], ['--proxytunnel']]) {
      const session = await egress.openProxySession({ identity: egress.nextIdentity(), maxBytes: 1 << 20 });
      const { code, output } = await curl(session.proxyUrl, ...flags, 'http://origin.test/');
      expect(code).not.toBe(0);
      expect(output.length).toBeLessThan(2 << 20);
    }
    await origin.idle();
  });
});

const ACCOUNT = { user: 'alice', password: 'pass: w%rd' };

describe('a request through a SOCKS proxy', () => {
  it.each([
    ['without credentials', undefined],
    ['with credentials', ACCOUNT],
  ])('sends http and https %s, names resolved by the proxy', async (_with, credentials) => {
    const plain = await serve((request, response) => void response.end(request.headers.host));
    const secure = await serveTls((_request, response) => void response.end('secure'));
    const proxy = await serveSocks({ 'origin.test:80': plain.port, 'origin.test:443': secure.port }, { credentials });
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC, ca: certificate.cert });
    const identity = egress.nextIdentity();
    expect(await text((await egress.request('http://origin.test/', { identity })).body)).toBe('origin.test');
    expect(await text((await egress.request('https://origin.test/', { identity })).body)).toBe('secure');
    expect(proxy.seen).toEqual(['origin.test:80', 'origin.test:443']);
  });

  it('checks every hop before the proxy is contacted', async () => {
    const proxy = await serveSocks({});
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC });
    const identity = egress.nextIdentity();
    for (const url of ['http://127.0.0.1/', 'https://inside.test/', 'http://unknown.test/'])
      await expect(egress.request(url, { identity })).rejects.toThrow(EgressRefused);
    expect(proxy.taken()).toBe(0);
  });

  it('sends the address of a destination without a name', async () => {
    const origin = await serve((_request, response) => void response.end('x'));
    const proxy = await serveSocks({ '93.184.216.34:80': origin.port });
    const egress = egressFor({ outgoingProxies: [proxy.url] });
    const { body } = await egress.request('http://93.184.216.34/', { identity: egress.nextIdentity() });
    expect(await text(body)).toBe('x');
  });

  it('loses no byte that arrives with the reply of the proxy', async () => {
    const origin = await serveTcp((socket) => void socket.end('\r\n\r\nrest'));
    const proxy = await serveSocks({ 'origin.test:80': origin.port }, { early: 'HTTP/1.1 200 OK' });
    const socket = await openSocksTunnel(new URL(proxy.url), { hostname: 'origin.test', port: 80 }, 10_000);
    expect(await text(socket)).toBe('HTTP/1.1 200 OK\r\n\r\nrest');
  });

  it.each([
    ['the credentials are wrong', { credentials: { ...ACCOUNT, password: 'other' } }, /rejected the credentials$/],
    ['the proxy does not allow the destination', { reply: 2 }, /does not allow the destination$/],
    ['the destination is unreachable', { reply: 4 }, /unreachable from the SOCKS proxy$/],
    ['the destination refuses the connection', { reply: 5 }, /refused the connection of the SOCKS proxy$/],
    ['the proxy fails otherwise', { reply: 1 }, /did not connect to the destination$/],
    ['the proxy is silent from the start', { silentAt: 'greeting' }, /did not respond in time$/],
    ['the proxy is silent after the request', { silentAt: 'request' }, /did not respond in time$/],
  ] as const)('rejects with UpstreamError when %s, and closes the connection', async (_when, options, reason) => {
    const proxy = await serveSocks({}, options);
    const url = `socks5://alice:${encodeURIComponent(ACCOUNT.password)}@${proxy.host}`;
    const connectTimeoutMs = 'silentAt' in options ? 200 : undefined;
    const egress = egressFor({ outgoingProxies: [url], names: PUBLIC, connectTimeoutMs });
    const request = egress.request('http://origin.test/', { identity: egress.nextIdentity() });
    const error = await request.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UpstreamError);
    expect(String(error)).toMatch(reason);
    expect(inspect(error, { depth: 9 })).not.toMatch(/alice|w%rd|w%25rd/);
    await proxy.idle();
  });

  it.each([
    ['closes the connection', Buffer.alloc(0)],
    ['is no SOCKS proxy', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('rejects with UpstreamError when the proxy %s', async (_what, sent) => {
    const proxy = await serveTcp((socket) => void socket.resume().end(sent));
    const egress = egressFor({ outgoingProxies: [`socks5://${proxy.host}`], names: PUBLIC });
    const request = egress.request('http://origin.test/', { identity: egress.nextIdentity() });
    await expect(request).rejects.toThrow(/^The SOCKS proxy (closed the connection|sent an invalid response)$/);
    await proxy.idle();
  });

  it('rejects with UpstreamError when nothing listens', async () => {
    const egress = egressFor({ outgoingProxies: [`socks5://127.0.0.1:${await deadPort()}`], names: PUBLIC });
    const request = egress.request('http://origin.test/', { identity: egress.nextIdentity() });
    await expect(request).rejects.toThrow(new UpstreamError('Connection to the SOCKS proxy failed'));
  });
});

describe('a proxy session through a SOCKS proxy', () => {
  const it = itWith('curl');

  it.each(methods())('tunnels, counts bytes and closes with the session (%s)', async (_way, flags) => {
    const origin = await serve((request, response) => void response.end(JSON.stringify(request.headers)));
    const proxy = await serveSocks({ 'origin.test:80': origin.port }, { credentials: ACCOUNT });
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC });
    const session = await egress.openProxySession({ identity: egress.nextIdentity() });
    const { output } = await curl(session.proxyUrl, ...flags, 'http://origin.test/');
    expect(output).toContain('"host":"origin.test"');
    expect(output).not.toContain('proxy-authorization');
    expect(session.bytesReceived()).toBeGreaterThan(50);
    session.close();
    await Promise.all([proxy.idle(), origin.idle()]);
  });

  it.each(methods())('closes its connections above maxBytes (%s)', async (_way, flags) => {
    const origin = await serve((_request, response) => void response.end(Buffer.alloc(4 << 20)));
    const proxy = await serveSocks({ 'origin.test:80': origin.port });
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC });
    const session = await egress.openProxySession({ identity: egress.nextIdentity(), maxBytes: 1 << 20 });
    const { code, output } = await curl(session.proxyUrl, ...flags, 'http://origin.test/');
    expect(code).not.toBe(0);
    expect(output.length).toBeLessThan(2 << 20);
    await Promise.all([proxy.idle(), origin.idle()]);
  });

  it.each(methods())('checks the destination before the proxy is contacted (%s)', async (_way, flags) => {
    const proxy = await serveSocks({});
    const egress = egressFor({ outgoingProxies: [proxy.url], names: PUBLIC });
    for (const host of ['127.0.0.1', 'inside.test', 'unknown.test']) {
      const session = await egress.openProxySession({ identity: egress.nextIdentity() });
      expect((await curl(session.proxyUrl, ...flags, `http://${host}/`)).output).toMatch(/^HTTP\/1\.1 403/);
      expect(session.refused()).toBe(true);
    }
    expect(proxy.taken()).toBe(0);
  });

  it.each(methods())('answers with a 5xx status when the proxy fails (%s)', async (_way, flags) => {
    const proxy = await serveSocks({}, { credentials: ACCOUNT });
    const silent = await serveSocks({}, { silentAt: 'request' });
    for (const url of [`socks5://127.0.0.1:${await deadPort()}`, `socks5://${proxy.host}`, silent.url]) {
      const egress = egressFor({ outgoingProxies: [url], names: PUBLIC, connectTimeoutMs: 200 });
      const session = await egress.openProxySession({ identity: egress.nextIdentity() });
      expect((await curl(session.proxyUrl, ...flags, 'http://origin.test/')).output).toMatch(/^HTTP\/1\.1 5\d\d/);
    }
    await Promise.all([proxy.idle(), silent.idle()]);
  });
});

describe('nextIdentity after a failure', () => {
  const GOOD = 'http://good.example:1';
  /** URLs of proxies that cannot be reached or reject the credentials. */
  const failing: Record<string, () => Promise<string>> = {
    'http, refused': async () => `http://127.0.0.1:${await deadPort()}`,
    'http, wrong credentials': async () => (await serveProxy({})).url.replace('user:', 'stranger:'),
    'https, no TLS': async () => (await serveProxy({})).url.replace('http:', 'https:'),
    'socks5, refused': async () => `socks5://127.0.0.1:${await deadPort()}`,
    'socks5, wrong credentials': async () => `socks5://x:y@${(await serveSocks({}, { credentials: ACCOUNT })).host}`,
    'socks5, silent': async () => (await serveSocks({}, { silentAt: 'greeting' })).url,
  };
  const urls = ['http://origin.test/', 'https://origin.test/'];
  const cases = Object.keys(failing).flatMap((name) => urls.map((url) => [name, url] as const));
  const isLeftOut = (egress: ReturnType<typeof egressFor>, identity: string) =>
    ![1, 2, 3, 4].map(() => egress.nextIdentity()).includes(identity);

  it.each(cases)('leaves the proxy out after a request (%s, %s)', async (name, url) => {
    const outgoingProxies = [(await failing[name]?.()) ?? '', GOOD];
    const egress = egressFor({ outgoingProxies, names: PUBLIC, connectTimeoutMs: 500 });
    const identity = egress.nextIdentity();
    await expect(egress.request(url, { identity })).rejects.toThrow(UpstreamError);
    expect(isLeftOut(egress, identity)).toBe(true);
  });

  itWith('curl').each(
    Object.keys(failing).flatMap((name) => methods().map(([way, flags]) => [name, way, flags] as const)),
  )('leaves the proxy out after a request of a child process (%s, %s)', async (name, _way, flags) => {
    const outgoingProxies = [(await failing[name]?.()) ?? '', GOOD];
    const egress = egressFor({ outgoingProxies, names: PUBLIC, connectTimeoutMs: 500 });
    const identity = egress.nextIdentity();
    const session = await egress.openProxySession({ identity });
    expect((await curl(session.proxyUrl, ...flags, 'http://origin.test/')).output).toMatch(/^HTTP\/1\.1 5\d\d/);
    expect(isLeftOut(egress, identity)).toBe(true);
  });

  it.each(urls)('keeps a proxy whose destination fails (%s)', async (url) => {
    const { port } = new URL(`http://127.0.0.1:${await deadPort()}`);
    const routes = { 'origin.test': Number(port), 'origin.test:443': Number(port) };
    const proxies = [
      await serveProxy(routes),
      await serveSocks({}, { reply: 5 }),
      await serveSocks({}, { silentAt: 'request' }),
    ];
    for (const proxy of proxies) {
      const egress = egressFor({ outgoingProxies: [proxy.url, GOOD], names: PUBLIC, connectTimeoutMs: 500 });
      const identity = egress.nextIdentity();
      await expect(egress.request(url, { identity })).rejects.toThrow(UpstreamError);
      expect(isLeftOut(egress, identity)).toBe(false);
    }
  });
});

function methods(): [string, string[]][] {
  return [
    ['by absolute URL', []],
    ['by CONNECT', ['--proxytunnel']],
  ];
}
