import { readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { describe, expect, it } from 'vitest';
import { readSettings } from '../../core/config/settings.ts';
import { basePathOf, createReadProxies } from '../../local/service/proxies.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { BASE, pathTo, startBehindProxy } from './local-service.ts';

const { service, origin } = await startBehindProxy();
const agent = closeAfterwards(new Agent({ pipelining: 0 }));
const elsewhere = closeAfterwards(new Agent({ localAddress: '127.0.0.2', pipelining: 0 }));
const send = (path: string, headers: Record<string, string> = {}, dispatcher = agent) =>
  request(service.baseUrl + path, { dispatcher, headers });

describe('BASE_PATH', () => {
  it('leads from the path alone to that with a slash', async () => {
    const { statusCode, headers, body } = await send(`${BASE}?url=x`);
    await body.dump();
    expect([statusCode, headers.location]).toEqual([302, `${BASE}/?url=x`]);
  });

  it('is where the description says that the paths begin', async () => {
    const { body } = await send('/swagger/v1/swagger.json');
    expect(await body.json()).toMatchObject({ servers: [{ url: BASE }] });
  });
});

describe('Home Assistant', () => {
  const INGRESS = { 'x-ingress-path': '/api/hassio_ingress/a-token' };
  const locationOf = async (headers: Record<string, string>, from = agent) => {
    const answer = await send(pathTo('Get', origin.url('/files/clip.mp4')), headers, from);
    await answer.body.dump();
    return String(answer.headers.location).replace(/\/api\/Stream\/.*/, '');
  };

  it('names the path, for this request alone', async () => {
    expect([await locationOf(INGRESS), await locationOf({})]).toEqual([INGRESS['x-ingress-path'], BASE]);
  });

  it('shows the page in a frame', async () => {
    const policies = async (headers: Record<string, string>) => {
      const answer = await send('/', headers);
      await answer.body.dump();
      return [
        answer.headers['x-frame-options'],
        answer.headers['cache-control'],
        /frame-ancestors .*/.exec(String(answer.headers['content-security-policy']))?.[0],
      ];
    };
    expect(await policies(INGRESS)).toEqual(['SAMEORIGIN', 'private, no-cache', "frame-ancestors 'self'"]);
    expect(await policies({})).toEqual(['DENY', 'no-cache', "frame-ancestors 'none'"]);
  });

  it.each(['//evil.example', 'https://evil.example', '/a b', '/"><script>', '/a/../b', '/./b', '/..', '/.'])(
    'cannot name %j',
    async (path) => {
      expect(await locationOf({ 'x-ingress-path': path })).toBe(BASE);
    },
  );

  it('is not believed from an address that is no proxy, nor where proxies are not listed', async () => {
    expect(await locationOf(INGRESS, elsewhere)).toBe(BASE);
    const seenFrom = (remoteAddress: string, proxyAddresses: readonly string[]) => {
      const headers: Record<string, string> = { ...INGRESS };
      const received = { headers, headersDistinct: {}, socket: { remoteAddress } } as unknown as IncomingMessage;
      createReadProxies({ trustedProxies: 1, proxyAddresses, userHeader: undefined, basePath: BASE })(received);
      return basePathOf(received);
    };
    expect(seenFrom('127.0.0.1', ['127.0.0.0/8'])).toBe(INGRESS['x-ingress-path']);
    expect(seenFrom('127.0.0.1', [])).toBe(BASE);
  });
});

describe('USER_HEADER', () => {
  /** The statuses of requests while a stream of the first one is open. */
  async function whileStreaming(first: Record<string, string>, others: readonly [Record<string, string>, Agent?][]) {
    const link = origin.url('/files/long-video.mp4');
    const path = (await send(pathTo('Get', link), first)).headers.location as string;
    const stream = await send(path, first);
    const statuses = [stream.statusCode];
    for (const [headers, from] of others) {
      const { statusCode, body } = await send(path, headers, from);
      statuses.push(statusCode);
      body.on('error', () => undefined).destroy();
    }
    stream.body.on('error', () => undefined).destroy();
    return statuses;
  }

  it('counts users, from whatever address they come', async () => {
    const user = (name: string, address: string) => ({ 'remote-user': name, 'x-forwarded-for': address });
    const alice = user('alice@example.org', '192.0.2.1');
    const others = [user('alice@example.org', '192.0.2.2'), user('bob, too', '192.0.2.1')];
    expect(
      await whileStreaming(
        alice,
        others.map((headers) => [headers]),
      ),
    ).toEqual([200, 429, 200]);
  });

  it('is not believed from an address that is no proxy', async () => {
    expect(await whileStreaming({ 'remote-user': 'carol' }, [[{ 'remote-user': 'carol' }, elsewhere]])).toEqual([
      200, 200,
    ]);
    expect((await send('/api/App', { 'remote-user': 'dave' }, elsewhere)).statusCode).toBe(200);
  });
});

describe('the example for oauth2-proxy', () => {
  it('has settings that Reelay accepts, of the network that the proxy is in', async () => {
    const text = await readFile(join(import.meta.dirname, '../../docs/examples/compose.oauth2.yaml'), 'utf8');
    const inExample = (name: string) => new RegExp(`${name}: "?([^"\\s}]+)`).exec(text)?.[1];
    const names = ['TRUSTED_PROXIES', 'PROXY_ADDRESSES', 'USER_HEADER'];
    expect(readSettings(Object.fromEntries(names.map((name) => [name, inExample(name)])))).toMatchObject({
      trustedProxies: 1,
      proxyAddresses: [inExample('subnet')],
      userHeader: 'X-Forwarded-User',
    });
    // The name of Reelay leads to the first network that the two share, by the names of the networks.
    expect(text).not.toMatch(/^ +networks:/m);
  });
});
