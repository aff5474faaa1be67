import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { SettingError } from '../../../core/config/parsers.ts';
import { readSettings } from '../../../core/config/settings.ts';
import { addressesOf, expandAddresses } from '../../../core/egress/proxy-pool.ts';

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
