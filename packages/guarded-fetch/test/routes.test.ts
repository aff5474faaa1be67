import { text } from 'node:stream/consumers';
import { EgressRefused, type GuardedFetch, type GuardedFetchOptions, UpstreamError } from '@reelay/guarded-fetch';
import { describe, expect, it } from 'vitest';
import { certificateFile } from './certificate.ts';
import { requestThrough } from './request-through.ts';
import {
  ACCOUNT,
  clientFor,
  deadPort,
  type Listening,
  type OutgoingProxy,
  type SocksServer,
  serve,
  serveProxy,
  serveSocks,
  serveTcp,
  serveTls,
} from './servers.ts';

type Proxy = OutgoingProxy | SocksServer;
type Ports = Readonly<Record<string, number>>;

/** What connections go through: an address of this machine, a proxy, or neither. */
const ROUTES: Readonly<Record<string, string | ((ports: Ports) => Promise<Proxy>) | undefined>> = {
  directly: undefined,
  // Other systems have one loopback address alone.
  ...(process.platform === 'linux' && { 'from a source address': '127.0.0.2' }),
  'through an HTTP proxy': (ports) => serveProxy(ports),
  'through an HTTPS proxy': (ports) => serveProxy(ports, 'https'),
  'through a SOCKS proxy': (ports) => serveSocks(ports),
  'through a SOCKS proxy with an account': (ports) => serveSocks(ports, { credentials: ACCOUNT }),
};
const IDENTITY = 'route';

/** A client whose identity has a proxy, and the failures of proxies that it reports. */
function clientBy(proxyUrl: string | undefined, options: Parameters<typeof clientFor>[0], sourceAddress?: string) {
  const url = proxyUrl === undefined ? undefined : new URL(proxyUrl);
  const failed: string[] = [];
  const routes = {
    resolve: (identity: string) => (identity === IDENTITY ? url : undefined),
    sourceAddress: (identity: string) => (identity === IDENTITY ? sourceAddress : undefined),
    proxies: url ? [url] : [],
    reportFailure: ({ href }: URL) => void failed.push(href),
    reportSuccess: () => undefined,
  };
  return { client: clientFor({ extraCaFile: certificateFile, routes, ...options }), failed };
}

/** `origin.test` has every port of `origins`. Proxies resolve names themselves: for them it is public. */
async function openRoute(name: string, origins: readonly Listening[], options: GuardedFetchOptions = {}) {
  const through = ROUTES[name];
  const ports = Object.fromEntries(origins.map(({ port }) => [`origin.test:${port}`, port]));
  const proxy = typeof through === 'function' ? await through(ports) : undefined;
  const names = {
    'origin.test': [proxy ? '93.184.216.34' : '127.0.0.1'],
    'inside.test': ['127.0.0.1', '::1', '10.0.0.1'],
    'empty.test': [],
  };
  const allow = proxy ? [] : Object.keys(ports);
  const sourceAddress = typeof through === 'string' ? through : undefined;
  return { proxy, ...clientBy(proxy?.url, { names, allow, ...options }, sourceAddress) };
}

interface Answer {
  readonly output: string;
  readonly isRefused: boolean;
  readonly isComplete: boolean;
  /** Received by the session of a child process. */
  readonly bytes?: number;
  readonly password?: string;
}

type Ask = (client: GuardedFetch, url: string, maxBytes?: number) => Promise<Answer>;

const request: Ask = async (client, url) => {
  try {
    const { body } = await client.request(url, { identity: IDENTITY, stallTimeoutMs: 500 });
    return { output: await text(body), isRefused: false, isComplete: true };
  } catch (error) {
    if (!(error instanceof EgressRefused)) expect(error).toBeInstanceOf(UpstreamError);
    return { output: '', isRefused: error instanceof EgressRefused, isComplete: false };
  }
};

const asChild =
  (isTunnelled?: boolean): Ask =>
  async (client, url, maxBytes) => {
    const session = await client.openProxySession({ identity: IDENTITY, ...(maxBytes && { maxBytes }) });
    const way = isTunnelled === undefined ? {} : { isTunnelled };
    const received = await requestThrough(session.proxyUrl, url, { ...way, headers: { 'proxy-x': 'secret' } });
    const isRefused = session.isRefused();
    // A client of CONNECT may see the status alone.
    expect(/^HTTP\/1\.1 403 .*x-egress: refused/is.test(received.output)).toBe(isRefused);
    const bytes = session.bytesReceived();
    session.close();
    return { ...received, isRefused, bytes, password: new URL(session.proxyUrl).password };
  };

const CHILDREN: readonly [how: string, ask: Ask][] = [
  ['a child process, by absolute URL', asChild(false)],
  ['a child process, by CONNECT', asChild(true)],
];
const ASKS: readonly [how: string, ask: Ask][] = [['a request', request], ...CHILDREN];

describe.each(Object.keys(ROUTES))('%s', (route) => {
  const isSocks = route.includes('SOCKS');

  it.each([
    ['a request', 'http', 'GET', request],
    ['a request for TLS', 'https', 'CONNECT', request],
    ['a child process, by absolute URL', 'http', 'GET', asChild(false)],
    ['a child process, by CONNECT', 'http', 'CONNECT', asChild(true)],
    ['a child process, for TLS', 'https', 'CONNECT', asChild()],
  ] as const)('%s is answered and sends what it should', async (_how, scheme, method, ask) => {
    const start = scheme === 'https' ? serveTls : serve;
    const origin = await start((got, response) => {
      response.end(JSON.stringify({ ...got.headers, path: got.url, from: got.socket.remoteAddress }));
    });
    const { client, proxy } = await openRoute(route, [origin]);
    const host = `origin.test:${origin.port}`;
    const { output, isRefused, bytes = 100, password } = await ask(client, `${scheme}://${host}/path?query`);
    const got = JSON.parse(/\{.*\}$/.exec(output)?.[0] ?? '{}');
    expect(got).toMatchObject({
      host,
      path: '/path?query',
      from: ROUTES[route] === '127.0.0.2' ? '127.0.0.2' : '127.0.0.1',
    });
    expect(Object.keys(got).join()).not.toMatch(/proxy-|via|forwarded/);
    expect(isRefused).toBe(false);
    expect(bytes).toBeGreaterThan(50);
    const line = method === 'GET' ? `GET http://${host}/path?query` : `CONNECT ${host}`;
    expect(proxy?.seen).toEqual(proxy && [isSocks ? host : line]);
    if (proxy && !isSocks && password)
      expect(JSON.stringify((proxy as OutgoingProxy).headers())).not.toContain(password);
    await client.close();
    await Promise.all([origin.idle(), proxy?.idle()]);
  });

  it.each([
    ...ASKS.map(([how, ask]) => [how, ask, 'inside'] as const),
    ['a redirected request', request, 'redirected'] as const,
  ])('%s is refused to private addresses in any notation', async (how, ask, kind) => {
    const inside = await serve((_got, response) => void response.end('secret'));
    const origin = await serve((got, response) => {
      response.writeHead(302, { location: `http://${got.url?.slice(1)}:${inside.port}/` }).end();
    });
    const { client, proxy } = await openRoute(route, [origin]);
    // There the connection is refused rather than the request: the answer is that of a host that is not reached.
    const isHidden = route === 'from a source address' && how.endsWith('by absolute URL');
    const refused = isHidden ? { output: expect.stringMatching(/^HTTP\/1\.1 5\d\d/) } : { isRefused: true };
    for (const host of [
      '127.0.0.1',
      '0x7f.1',
      '2130706433',
      '[::ffff:127.0.0.1]',
      '169.254.169.254',
      'localhost',
      'inside.test',
      'empty.test',
      'unknown.test',
    ]) {
      const url =
        kind === 'redirected' ? `http://origin.test:${origin.port}/${host}` : `http://${host}:${inside.port}/`;
      expect(await ask(client, url), host).toMatchObject(refused);
    }
    expect(inside.taken()).toBe(0);
    expect((proxy?.seen ?? []).filter((line) => !line.includes('origin.test'))).toEqual([]);
    if (kind === 'inside') expect(proxy?.taken() ?? 0).toBe(0);
  });

  it.each(CHILDREN)('%s gets maxBytes at most, and without them all', async (_how, ask) => {
    const origin = await serve((_got, response) => void response.end(Buffer.alloc(4 << 20)));
    const { client } = await openRoute(route, [origin]);
    const url = `http://origin.test:${origin.port}/`;
    const cut = await ask(client, url, 1 << 20);
    expect(cut.isComplete).toBe(false);
    expect(cut.output.length).toBeLessThan(2 << 20);
    const whole = await ask(client, url);
    expect(whole.isComplete).toBe(true);
    expect(whole.bytes).toBeGreaterThan(4 << 20);
    await client.close();
    await origin.idle();
  });
});

describe.each(Object.keys(ROUTES).filter((name) => typeof ROUTES[name] !== 'function'))('%s', (route) => {
  it.each(ASKS)('%s goes to the address that was checked when DNS changes afterwards', async (_how, ask) => {
    const { port } = await serve((_got, response) => void response.end('here'));
    let lookups = 0;
    const lookup = async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '127.0.0.9', family: 4 }];
    const { client } = await openRoute(route, [], { lookup, allow: [`127.0.0.1:${port}`] });
    expect((await ask(client, `http://rebinding.test:${port}/`)).output).toMatch(/here$/);
    expect(lookups).toBe(1);
  });
});

it('does without the proxy for a request without the identity', async () => {
  const origin = await serve((_got, response) => void response.end('direct'));
  const { client } = clientBy(`http://127.0.0.1:${await deadPort()}`, { allow: [origin.host] });
  expect(await text((await client.request(`http://${origin.host}/`)).body)).toBe('direct');
});

it('does not trust an HTTPS proxy without its certificate', async () => {
  const { url } = await serveProxy({}, 'https');
  const { client } = clientBy(url, { names: { 'origin.test': ['93.184.216.34'] }, extraCaFile: undefined });
  expect(await request(client, 'http://origin.test/')).toMatchObject({ isComplete: false });
});

describe('a proxy', () => {
  const silent = async () => `http://${(await serveTcp((socket) => void socket.resume())).host}`;
  const dead = async () => {
    const port = await deadPort();
    return (await serveProxy({ 'origin.test': port, 'origin.test:80': port, 'origin.test:443': port })).url;
  };
  it.each<[string, isAtFault: boolean, () => Promise<string>]>([
    ['by HTTP that refuses connections', true, async () => `http://127.0.0.1:${await deadPort()}`],
    ['by HTTP that rejects the account', true, async () => (await serveProxy({})).url.replace('user:', 'stranger:')],
    ['by HTTPS that speaks no TLS', true, async () => (await serveProxy({})).url.replace('http:', 'https:')],
    ['by SOCKS that refuses connections', true, async () => `socks5://127.0.0.1:${await deadPort()}`],
    [
      'by SOCKS that rejects the account',
      true,
      async () => `socks5://x:y@${(await serveSocks({}, { credentials: ACCOUNT })).host}`,
    ],
    ['by SOCKS that is silent', true, async () => (await serveSocks({}, { silentAt: 'greeting' })).url],
    ['by HTTP whose destination fails', false, dead],
    ['by SOCKS whose destination fails', false, async () => (await serveSocks({}, { reply: 5 })).url],
    ['by SOCKS whose destination is silent', false, async () => (await serveSocks({}, { silentAt: 'request' })).url],
  ])('%s fails what asks, and is at fault: %s', async (_how, isAtFault, open) => {
    const url = await open();
    const names = { 'origin.test': ['93.184.216.34'] };
    for (const [how, ask, scheme] of [
      ...ASKS.map((each) => [...each, 'http'] as const),
      ['a request for TLS', request, 'https'] as const,
    ]) {
      // Long enough to connect to the proxy itself on a busy machine.
      const { client, failed } = clientBy(url, { names, connectTimeoutMs: isAtFault ? 500 : 2_000 });
      const { output, ...answer } = await ask(client, `${scheme}://origin.test/`);
      expect([how, answer.isRefused, answer.isComplete && answer.bytes === undefined]).toEqual([how, false, false]);
      if (answer.bytes !== undefined) expect(output, how).toMatch(/^HTTP\/1\.1 5\d\d/);
      expect(new Set(failed), how).toEqual(new Set(isAtFault ? [new URL(url).href] : []));
    }
  });

  it.each(['http', 'https'])('that does not respond fails a request for %s', async (scheme) => {
    const { client } = clientBy(await silent(), { names: { 'origin.test': ['93.184.216.34'] }, connectTimeoutMs: 100 });
    expect(await request(client, `${scheme}://origin.test/`)).toMatchObject({ isRefused: false, isComplete: false });
  });
});
