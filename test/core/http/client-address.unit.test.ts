import { describe, expect, it } from 'vitest';
import { clientAddress, clientOf, createClientNames, networkOf } from '../../../core/http/client.ts';

describe('clientOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:4711', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '20010db8000100'],
    ['2001:db8:1:2::1', '20010db8000100'],
    ['[2001:db8:1:2::1]', '20010db8000100'],
    ['[2001:db8:1:2::1]:4711', '20010db8000100'],
    ['2001:db8:1:ff:3::1', '20010db8000100'],
    ['2001:db8:1:100::1', '20010db8000101'],
    ['[::ffff:192.0.2.1]:4711', '192.0.2.1'],
    ['unknown', 'unknown'],
    ['', ''],
    [undefined, ''],
  ])('identifies %s as %s', (address, client) => expect(clientOf(address)).toBe(client));
});

describe('networkOf', () => {
  it.each([
    [clientOf('2001:db8:1:2::1'), '20010db80001'],
    [clientOf('192.0.2.1'), undefined],
    ['key 0123456789ab', undefined],
    ['20010db80001', undefined],
    ['', undefined],
  ])('of %j is %j', (client, network) => expect(networkOf(client)).toBe(network));
});

describe('createClientNames', () => {
  const inNetwork = (index: number, network = '1') => clientOf(`2001:db8:${network}:${index.toString(16)}00::1`);

  it('names three clients of a network at a time, and the others by the network', () => {
    const names = createClientNames();
    const held = Array.from({ length: 256 }, (_, index) => names.hold(inNetwork(index)));
    const counted = new Set(held.map(({ name }) => name));
    expect(counted).toEqual(new Set([inNetwork(0), inNetwork(1), inNetwork(2), '20010db80001']));
    expect(names.hold(inNetwork(2)).name).toBe(inNetwork(2));
    expect(names.hold(inNetwork(0, '2')).name).toBe(inNetwork(0, '2'));
  });

  it('frees the name of a client when nothing is done for it any more', () => {
    const names = createClientNames();
    const [first, again] = [names.hold(inNetwork(0)), names.hold(inNetwork(0))];
    names.hold(inNetwork(1));
    names.hold(inNetwork(2));
    first.release();
    first.release();
    expect(names.hold(inNetwork(3)).name).toBe('20010db80001');
    again.release();
    expect(names.hold(inNetwork(3)).name).toBe(inNetwork(3));
  });

  it('leaves IPv4 addresses and access keys as they are', () => {
    const names = createClientNames();
    const clients = Array.from({ length: 10 }, (_, index) => [`192.0.2.${index}`, `key 00000000000${index}`]).flat();
    expect(clients.map((client) => names.hold(client).name)).toEqual(clients);
  });
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
