import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { UpstreamError } from '../../../core/errors/index.ts';
import { deadPort, NAMES, serve, serveProxy } from '../../../packages/guarded-fetch/test/servers.ts';
import { egressFor } from './egress-for.ts';

const URL = 'http://origin.test/';
async function serveProxies() {
  const { port, host } = await serve((request, response) => void response.end(request.socket.remoteAddress));
  const [a, b] = [await serveProxy({ 'origin.test': port }), await serveProxy({ 'origin.test': port })];
  return { a, b, host };
}

describe('nextIdentity', () => {
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

  it('leaves out a proxy through which a request has failed', async () => {
    const outgoingProxies = [`http://127.0.0.1:${await deadPort()}`, 'http://good.example:1'];
    const egress = egressFor({ outgoingProxies, names: NAMES });
    const identity = egress.nextIdentity();
    await expect(egress.request(URL, { identity })).rejects.toThrow(UpstreamError);
    expect([1, 2, 3, 4].map(() => egress.nextIdentity())).not.toContain(identity);
  });
});

describe('a request', () => {
  it('goes through replaced proxies from then on, also under identities of the former ones', async () => {
    const { a, b } = await serveProxies();
    const egress = egressFor({ outgoingProxies: [a.url], names: NAMES });
    const ask = async (identity: string) => text((await egress.request(URL, { identity })).body);
    const identity = egress.nextIdentity();
    await ask(identity);
    expect(() => egress.replaceProxies(['ftp://proxy.example'])).toThrow(/^Outgoing proxy 1 /);
    expect(egress.ownsIdentity(identity)).toBe(true);
    egress.replaceProxies([b.url]);
    expect(egress.ownsIdentity(identity)).toBe(false);
    await ask(identity);
    await ask(egress.nextIdentity());
    expect([a.seen.length, b.seen.length]).toEqual([1, 2]);
    egress.replaceProxies([]);
    expect(egress.nextIdentity()).toBe('direct');
  });

  it('uses another proxy, always the same, when its own is no longer configured, and warns once', async () => {
    const { a, b } = await serveProxies();
    const warnings: unknown[] = [];
    const ignore = () => undefined;
    const log = { info: ignore, error: ignore, warn: (...said: unknown[]) => void warnings.push(said) };
    for (let start = 0; start < 2; start++) {
      const egress = egressFor({ names: NAMES, outgoingProxies: [a.url, b.url], log });
      for (let turn = 0; turn < 2; turn++) (await egress.request(URL, { identity: 'proxy-gone' })).body.resume();
    }
    expect([a.seen.length, b.seen.length].sort()).toEqual([0, 4]);
    expect(warnings).toHaveLength(2);
    expect(JSON.stringify(warnings)).not.toMatch(/pass|127\.0\.0\.1/);
  });

  // Other systems have one loopback address alone.
  it.runIf(process.platform === 'linux').each([
    ['directly, when no proxy is configured any more', [], ['proxy-gone'], ['127.0.0.1']],
    [
      'from the source address of its identity',
      ['127.0.0.2', '127.0.0.3'],
      ['address-127.0.0.2', 'address-127.0.0.3'],
      ['127.0.0.2', '127.0.0.3'],
    ],
    ['from the usual address without an identity', ['127.0.0.2'], [undefined], ['127.0.0.1']],
  ])('goes %s', async (_how, sourceAddresses, identities, expected) => {
    const { host } = await serveProxies();
    const egress = egressFor({ allow: [host], sourceAddresses });
    const from = identities.map(async (identity) => {
      const { body } = await egress.request(`http://${host}/`, identity ? { identity } : {});
      return text(body);
    });
    expect(await Promise.all(from)).toEqual(expected);
  });

  it('comes from an address of the other family where the host has none of its own', async () => {
    const { host } = await serveProxies();
    const egress = egressFor({ allow: [host], sourceAddresses: ['2001:db8::/64'] });
    const { body } = await egress.request(`http://${host}/`, { identity: egress.nextIdentity() });
    expect(await text(body)).toBe('127.0.0.1');
  });

  it('fails when this machine does not have the address', async () => {
    const { host } = await serveProxies();
    const egress = egressFor({ allow: [host], sourceAddresses: ['192.0.2.1'] });
    const request = egress.request(`http://${host}/`, { identity: egress.nextIdentity() });
    await expect(request).rejects.toThrow('Connection failed');
  });
});
