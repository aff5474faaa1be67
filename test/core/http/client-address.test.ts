import { describe, expect, it } from 'vitest';
import { clientAddress, clientOf } from '../../../core/http/client-address.ts';

describe('clientOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '20010db800010002'],
    ['2001:db8:1:2::1', '20010db800010002'],
    ['[2001:db8:1:2::1]', '20010db800010002'],
    ['[2001:db8:1:2::1]:4711', '20010db800010002'],
    ['[::ffff:192.0.2.1]:4711', '192.0.2.1'],
    ['unknown', 'unknown'],
    ['', ''],
    [undefined, ''],
  ])('identifies %s as %s', (address, client) => expect(clientOf(address)).toBe(client));
});

describe('clientAddress', () => {
  it.each([
    ['ignores the header without trusted proxies', '192.0.2.9', 0, '198.51.100.1'],
    ['takes the entry of one trusted proxy', '203.0.113.7, 192.0.2.9', 1, '192.0.2.9'],
    ['takes the entry of the outer of two trusted proxies', '203.0.113.7, 192.0.2.9, 192.0.2.8', 2, '192.0.2.9'],
    ['takes the outermost entry when there are fewer', '192.0.2.9', 3, '192.0.2.9'],
    ['falls back to the connection without the header', undefined, 1, '198.51.100.1'],
    ['skips empty entries', '192.0.2.9, ,', 1, '192.0.2.9'],
  ])('%s', (_, forwardedFor, trustedProxies, address) =>
    expect(clientAddress({ remoteAddress: '198.51.100.1', forwardedFor, trustedProxies })).toBe(address),
  );
});
