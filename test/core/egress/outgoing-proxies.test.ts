import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { EgressRefused, UpstreamError } from '../../../core/errors/index.ts';
import { certificateFile } from '../../../packages/guarded-fetch/test/certificate.ts';
import {
  ACCOUNT,
  deadPort,
  NAMES,
  serve,
  serveProxy,
  serveSocks,
  serveTcp,
  serveTls,
} from '../../../packages/guarded-fetch/test/servers.ts';
import { egressBy, egressFor } from './egress-for.ts';
import { REQUEST_METHODS, requestThrough } from './request-through.ts';

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

  it.each(['user:secret@proxy.example:80', 'http://user:secret%@host:9', '10.1.2.3:99999:alice:secret'])(
    'rejects %j without repeating it',
    (url) => {
      const start = () => createEgress({ allow: [], outgoingProxies: ['http://good.example', url] });
      expect(start).toThrow(/^Outgoing proxy 2 [^\n]+$/);
      expect(start).not.toThrow('secret');
    },
  );
});

describe('a request through an outgoing proxy', () => {
  it('sends http by absolute URL, credentials to the proxy only', async () => {
    const origin = await serve((request, response) => void response.end(JSON.stringify(request.headers)));
    const proxy = await serveProxy({ 'origin.test': origin.port });
    const { egress, identity } = egressBy(proxy);
    const { body } = await egress.request('http://origin.test/path', { identity });
    const got = JSON.parse(await text(body));
    expect(got).toMatchObject({ host: 'origin.test' });
    expect(got).not.toHaveProperty('proxy-authorization');
    expect(proxy.seen).toEqual(['GET http://origin.test/path']);
  });

  it('goes through replaced proxies from then on, also under identities of the former ones', async () => {
    const origin = await serve((_request, response) => void response.end('x'));
    const [former, next] = [
      await serveProxy({ 'origin.test': origin.port }),
      await serveProxy({ 'origin.test': origin.port }),
    ];
    const egress = egressFor({ outgoingProxies: [former.url], names: NAMES });
    const ask = async (identity: string) => text((await egress.request('http://origin.test/', { identity })).body);
    const identity = egress.nextIdentity();
    await ask(identity);
    expect(() => egress.replaceProxies(['ftp://proxy.example'])).toThrow(/^Outgoing proxy 1 /);
    expect(egress.ownsIdentity(identity)).toBe(true);
    egress.replaceProxies([next.url]);
    expect(egress.ownsIdentity(identity)).toBe(false);
    await ask(identity);
    await ask(egress.nextIdentity());
    expect([former.seen.length, next.seen.length]).toEqual([1, 2]);
    egress.replaceProxies([]);
    expect(egress.nextIdentity()).toBe('direct');
  });

  it('tunnels https by CONNECT', async () => {
    const origin = await serveTls((_request, response) => void response.end('secure'));
    const proxy = await serveProxy({ 'origin.test:443': origin.port });
    const { egress, identity } = egressBy(proxy, { extraCaFile: certificateFile });
    const { body } = await egress.request('https://origin.test/', { identity });
    expect(await text(body)).toBe('secure');
    expect(proxy.seen).toEqual(['CONNECT origin.test:443']);
  });

  it('connects to an https proxy by a certificate of EXTRA_CA_FILE, for itself and for child processes', async () => {
    const origin = await serve((_request, response) => void response.end('x'));
    const proxy = await serveProxy({ 'origin.test:80': origin.port, 'origin.test': origin.port }, 'https');
    const options = { outgoingProxies: [proxy.url], names: NAMES };
    const egress = egressFor({ ...options, extraCaFile: certificateFile });
    const identity = egress.nextIdentity();
    expect(await text((await egress.request('http://origin.test/', { identity })).body)).toBe('x');
    const { proxyUrl } = await egress.openProxySession({ identity });
    for (const [, way] of REQUEST_METHODS)
      expect(await requestThrough(proxyUrl, 'http://origin.test/', way)).toMatchObject({ isComplete: true });
    const distrusting = egressFor(options).request('http://origin.test/', { identity });
    await expect(distrusting).rejects.toThrow(UpstreamError);
  });

  it('checks every hop before the proxy is contacted', async () => {
    const origin = await serve((_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
    });
    const proxy = await serveProxy({ 'origin.test': origin.port });
    const { egress, identity } = egressBy(proxy);
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

  it.each(['http', 'https'])('rejects with UpstreamError when the proxy does not respond (%s)', async (scheme) => {
    const silent = await serveTcp((socket) => void socket.resume());
    const egress = egressFor({ outgoingProxies: [`http://${silent.host}`], names: NAMES, connectTimeoutMs: 100 });
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
    const options = { names: NAMES, outgoingProxies: [a.url, b.url], log };
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
  it.each([
    ['by absolute URL', {}, 'GET http://origin.test/'],
    ['by CONNECT', { isTunnelled: true }, 'CONNECT origin.test:80'],
  ])('connects %s, counts bytes and sends none of its own credentials upstream', async (_how, way, line) => {
    const origin = await serve((request, response) => void response.end(JSON.stringify(request.headers)));
    const proxy = await serveProxy({ 'origin.test': origin.port, 'origin.test:80': origin.port });
    const { egress, identity } = egressBy(proxy);
    const session = await egress.openProxySession({ identity });
    const { output } = await requestThrough(session.proxyUrl, 'http://origin.test/', way);
    expect(output).toContain('"host":"origin.test"');
    expect(output).not.toContain('proxy-authorization');
    expect(proxy.seen).toEqual([line]);
    expect(JSON.stringify(proxy.headers())).not.toContain(new URL(session.proxyUrl).password);
    expect(session.bytesReceived()).toBeGreaterThan(50);
  });

  it.each(
    [serveProxy, serveSocks].flatMap((start) =>
      REQUEST_METHODS.map(([how, way]) => [start.name, how, start, way] as const),
    ),
  )('checks the destination before the proxy is contacted (%s, %s)', async (_kind, _how, start, way) => {
    const proxy = await start({});
    const { egress, identity } = egressBy(proxy);
    for (const host of ['127.0.0.1', 'inside.test', 'unknown.test']) {
      const session = await egress.openProxySession({ identity });
      expect((await requestThrough(session.proxyUrl, `http://${host}/`, way)).output).toMatch(/^HTTP\/1\.1 403/);
      expect(session.isRefused()).toBe(true);
    }
    expect(proxy.taken()).toBe(0);
  });

  it('closes its connections above maxBytes', async () => {
    const origin = await serve((_request, response) => void response.end(Buffer.alloc(4 << 20)));
    const proxy = await serveProxy({ 'origin.test': origin.port, 'origin.test:80': origin.port });
    const { egress, identity } = egressBy(proxy);
    for (const [, way] of REQUEST_METHODS) {
      const session = await egress.openProxySession({ identity, maxBytes: 1 << 20 });
      const { isComplete, output } = await requestThrough(session.proxyUrl, 'http://origin.test/', way);
      expect(isComplete).toBe(false);
      expect(output.length).toBeLessThan(2 << 20);
    }
    await origin.idle();
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
    const egress = egressFor({ outgoingProxies, names: NAMES, connectTimeoutMs: 500 });
    const identity = egress.nextIdentity();
    await expect(egress.request(url, { identity })).rejects.toThrow(UpstreamError);
    expect(isLeftOut(egress, identity)).toBe(true);
  });

  it.each(Object.keys(failing).flatMap((name) => REQUEST_METHODS.map(([how, way]) => [name, how, way] as const)))(
    'leaves the proxy out after a request of a child process (%s, %s)',
    async (name, _how, way) => {
      const outgoingProxies = [(await failing[name]?.()) ?? '', GOOD];
      const egress = egressFor({ outgoingProxies, names: NAMES, connectTimeoutMs: 500 });
      const identity = egress.nextIdentity();
      const session = await egress.openProxySession({ identity });
      expect((await requestThrough(session.proxyUrl, 'http://origin.test/', way)).output).toMatch(/^HTTP\/1\.1 5\d\d/);
      expect(isLeftOut(egress, identity)).toBe(true);
    },
  );

  it.each(urls)('keeps a proxy whose destination fails (%s)', async (url) => {
    const { port } = new URL(`http://127.0.0.1:${await deadPort()}`);
    const routes = { 'origin.test': Number(port), 'origin.test:443': Number(port) };
    const proxies = [
      await serveProxy(routes),
      await serveSocks({}, { reply: 5 }),
      await serveSocks({}, { silentAt: 'request' }),
    ];
    for (const proxy of proxies) {
      // Long enough to connect to the proxy itself on a busy machine.
      const egress = egressFor({ outgoingProxies: [proxy.url, GOOD], names: NAMES, connectTimeoutMs: 2_000 });
      const identity = egress.nextIdentity();
      await expect(egress.request(url, { identity })).rejects.toThrow(UpstreamError);
      expect(isLeftOut(egress, identity)).toBe(false);
    }
  });
});
