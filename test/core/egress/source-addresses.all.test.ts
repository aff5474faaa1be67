import { text } from 'node:stream/consumers';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { readSettings } from '../../../core/config/settings.ts';
import { addressesOf, expandAddresses } from '../../../core/egress/proxy-pool.ts';
import { certificateFile } from '../../../packages/guarded-fetch/test/certificate.ts';
import { serve, serveTls } from '../../../packages/guarded-fetch/test/servers.ts';
import { egressFor } from './egress-for.ts';
import { REQUEST_METHODS, requestThrough } from './request-through.ts';

describe('SOURCE_ADDRESSES', () => {
  const read = (text: string) => readSettings({ SOURCE_ADDRESSES: text }).sourceAddresses;

  it.each([
    ['192.0.2.1, 2001:DB8:0::1', ['192.0.2.1', '2001:db8::1']],
    ['2001:DB8:1:2:0::/64', ['2001:db8:1:2::/64']],
    ['', []],
  ])('reads %j', (value, addresses) => expect(read(value)).toEqual(addresses));

  it.each([
    'host.example',
    '192.0.2.0/24',
    '2001:db8::/31',
    '2001:db8::/129',
    '2001:db8::/64/1',
    '::',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '::ffff:192.0.2.1',
    'ff02::1',
    'fe80::1%lo',
  ])('rejects %j', (value) => {
    expect(() => read(`192.0.2.1,${value}`)).toThrow(SettingError);
    expect(() => read(`192.0.2.1,${value}`)).toThrow(/^SOURCE_ADDRESSES must be .+ entry 2 is something else$/);
  });
});

describe('the addresses of an IPv6 prefix', () => {
  it.each([
    '2001:db8:1:2::/64',
    '2001:db8::/32',
    '2001:db8:1::/48',
    '2001:db8::4:0/109',
    '2001:db8::8/125',
    '2001:db8::1/128',
  ])('of %s lie in it, and are the same each time', (prefix) => {
    const addresses = addressesOf(prefix);
    const range = ipaddr.IPv6.parseCIDR(prefix);
    expect(addresses.every((address) => ipaddr.IPv6.parse(address).match(range))).toBe(true);
    expect(addressesOf(prefix)).toEqual(addresses);
    expect(new Set(addresses).size).toBe(Math.min(64, 2 ** (128 - range[1])));
  });

  it('are in different networks of 64 bits where the prefix has several', () => {
    const networks = addressesOf('2001:db8::/48').map((address) => address.split(':').slice(0, 4).join(':'));
    expect(new Set(networks).size).toBe(64);
  });

  it('stand beside single ones', () => {
    expect(expandAddresses(['192.0.2.1', '2001:db8::/64', '192.0.2.1'])).toHaveLength(65);
  });
});

const remote = (request: { readonly socket: { readonly remoteAddress?: string | undefined } }) =>
  request.socket.remoteAddress ?? '';
const sourceAddresses = ['127.0.0.2', '127.0.0.3'];

describe('connections of an egress with source addresses', () => {
  it.each([
    ['http', serve],
    ['https', serveTls],
  ] as const)('come from the address of the identity (%s)', async (scheme, start) => {
    const { host } = await start((request, response) => void response.end(remote(request)));
    const egress = egressFor({ allow: [host], sourceAddresses, extraCaFile: certificateFile });
    const ask = async (identity?: string) =>
      text((await egress.request(`${scheme}://${host}/`, identity ? { identity } : {})).body);
    expect([await ask(egress.nextIdentity()), await ask(egress.nextIdentity())]).toEqual(sourceAddresses);
    expect(await ask()).toBe('127.0.0.1');
  });

  it.each(REQUEST_METHODS)('of child processes too (%s)', async (_how, way) => {
    const { host } = await serve((request, response) => void response.end(`from ${remote(request)}`));
    const egress = egressFor({ allow: [host], sourceAddresses });
    const session = await egress.openProxySession({ identity: 'address-127.0.0.3' });
    expect((await requestThrough(session.proxyUrl, `http://${host}/`, way)).output).toContain('from 127.0.0.3');
    expect(session.bytesReceived()).toBeGreaterThan(0);
  });

  it('come from an address of the other family where the host has none of theirs', async () => {
    const { host } = await serve((request, response) => void response.end(remote(request)));
    const egress = egressFor({ allow: [host], sourceAddresses: ['2001:db8::/64'] });
    const { body } = await egress.request(`http://${host}/`, { identity: egress.nextIdentity() });
    expect(await text(body)).toBe('127.0.0.1');
  });

  it('fail when this machine does not have the address', async () => {
    const { host } = await serve((_request, response) => void response.end());
    const egress = egressFor({ allow: [host], sourceAddresses: ['192.0.2.1'] });
    await expect(egress.request(`http://${host}/`, { identity: egress.nextIdentity() })).rejects.toThrow(
      'Connection failed',
    );
  });
});
