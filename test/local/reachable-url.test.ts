import { describe, expect, it } from 'vitest';
import { reachableUrl } from '../../local/service/request-authority.ts';

const address = (text: string, internal = false, family: 'IPv4' | 'IPv6' = 'IPv4') =>
  ({ address: text, internal, family, netmask: '', mac: '', cidr: null, scopeid: 0 }) as const;
const NETWORK = {
  lo: [address('127.0.0.1', true)],
  en0: [address('fe80::1', false, 'IPv6'), address('169.254.3.4'), address('192.168.1.20')],
  en1: [address('10.0.0.5')],
};
const of = (host: string, more: { publicUrl?: string; allowedHosts?: string[] } = {}, network: object = NETWORK) =>
  reachableUrl(
    { basePath: '', allowedHosts: [], host, port: 8080, publicUrl: undefined, ...more },
    network as typeof NETWORK,
  );

describe('reachableUrl', () => {
  it.each([
    ['0.0.0.0', 'http://192.168.1.20:8080'],
    ['::', 'http://192.168.1.20:8080'],
    ['10.0.0.5', 'http://10.0.0.5:8080'],
    ['fd00::5', 'http://[fd00::5]:8080'],
    ['127.0.0.1', undefined],
    ['127.0.0.2', undefined],
    ['::1', undefined],
    ['localhost', undefined],
  ])('of a service on %s is %s', (host, expected) => expect(of(host)).toBe(expected));

  it('is PUBLIC_URL wherever the service listens', () =>
    expect(of('127.0.0.1', { publicUrl: 'https://media.example' })).toBe('https://media.example'));

  it('is no address that ALLOWED_HOSTS excludes', () => {
    expect(of('0.0.0.0', { allowedHosts: ['media.example'] })).toBeUndefined();
    expect(of('0.0.0.0', { allowedHosts: ['192.168.1.20'] })).toBe('http://192.168.1.20:8080');
  });

  it('is unknown on a machine without a network', () => expect(of('0.0.0.0', {}, { lo: NETWORK.lo })).toBeUndefined());
});
