import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { EgressRefused, UpstreamError } from '../../../core/errors/index.ts';
import { openSocksTunnel } from '../../../packages/guarded-fetch/src/socks-tunnel.ts';
import { certificateFile } from '../../../packages/guarded-fetch/test/certificate.ts';
import {
  ACCOUNT,
  deadPort,
  NAMES,
  serve,
  serveSocks,
  serveTcp,
  serveTls,
} from '../../../packages/guarded-fetch/test/servers.ts';
import { egressBy, egressFor } from './egress-for.ts';
import { REQUEST_METHODS, requestThrough } from './request-through.ts';

describe('a request through a SOCKS proxy', () => {
  it.each([
    ['without credentials', undefined],
    ['with credentials', ACCOUNT],
  ])('sends http and https %s, names resolved by the proxy', async (_with, credentials) => {
    const plain = await serve((request, response) => void response.end(request.headers.host));
    const secure = await serveTls((_request, response) => void response.end('secure'));
    const proxy = await serveSocks({ 'origin.test:80': plain.port, 'origin.test:443': secure.port }, { credentials });
    const { egress, identity } = egressBy(proxy, { extraCaFile: certificateFile });
    expect(await text((await egress.request('http://origin.test/', { identity })).body)).toBe('origin.test');
    expect(await text((await egress.request('https://origin.test/', { identity })).body)).toBe('secure');
    expect(proxy.seen).toEqual(['origin.test:80', 'origin.test:443']);
  });

  it('checks every hop before the proxy is contacted', async () => {
    const proxy = await serveSocks({});
    const { egress, identity } = egressBy(proxy);
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
    const egress = egressFor({ outgoingProxies: [url], names: NAMES, connectTimeoutMs });
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
    const egress = egressFor({ outgoingProxies: [`socks5://${proxy.host}`], names: NAMES });
    const request = egress.request('http://origin.test/', { identity: egress.nextIdentity() });
    await expect(request).rejects.toThrow(/^The SOCKS proxy (closed the connection|sent an invalid response)$/);
    await proxy.idle();
  });

  it('rejects with UpstreamError when nothing listens', async () => {
    const egress = egressFor({ outgoingProxies: [`socks5://127.0.0.1:${await deadPort()}`], names: NAMES });
    const request = egress.request('http://origin.test/', { identity: egress.nextIdentity() });
    await expect(request).rejects.toThrow(new UpstreamError('Connection to the SOCKS proxy failed'));
  });
});

describe('a proxy session through a SOCKS proxy', () => {
  it.each(REQUEST_METHODS)('tunnels, counts bytes and closes with the session (%s)', async (_how, way) => {
    const origin = await serve((request, response) => void response.end(JSON.stringify(request.headers)));
    const proxy = await serveSocks({ 'origin.test:80': origin.port }, { credentials: ACCOUNT });
    const { egress, identity } = egressBy(proxy);
    const session = await egress.openProxySession({ identity });
    const { output } = await requestThrough(session.proxyUrl, 'http://origin.test/', way);
    expect(output).toContain('"host":"origin.test"');
    expect(output).not.toContain('proxy-authorization');
    expect(session.bytesReceived()).toBeGreaterThan(50);
    session.close();
    await Promise.all([proxy.idle(), origin.idle()]);
  });
});
