import { describe, expect, it } from 'vitest';
import { createAddressGuard, isPublicAddress } from '../src/address-guard.ts';
import { destinationOf } from '../src/guarded-client.ts';

describe('isPublicAddress', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '93.184.216.34',
    '99.255.255.255',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.1',
    '169.253.255.255',
    '168.63.129.15',
    '172.15.255.255',
    '172.32.0.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:80b::200e',
    '[2606:4700::1]',
  ])('accepts %s', (address) => expect(isPublicAddress(address)).toBe(true));

  it.each([
    ['unspecified', '0.0.0.0'],
    ['this network (RFC 791)', '0.1.2.3'],
    ['private', '10.0.0.1'],
    ['private', '10.255.255.255'],
    ['shared, CGNAT (RFC 6598)', '100.64.0.1'],
    ['shared, CGNAT', '100.127.255.255'],
    ['loopback', '127.0.0.1'],
    ['loopback', '127.255.255.254'],
    ['link-local', '169.254.0.1'],
    ['EC2 metadata', '169.254.169.254'],
    ['ECS task credentials', '169.254.170.2'],
    ["Azure's host", '168.63.129.16'],
    ['private', '172.16.0.1'],
    ['private', '172.31.255.255'],
    ['protocol assignments', '192.0.0.8'],
    ['documentation', '192.0.2.1'],
    ['6to4 relay anycast', '192.88.99.1'],
    ['private', '192.168.1.1'],
    ['benchmarking', '198.18.0.1'],
    ['benchmarking', '198.19.255.255'],
    ['documentation', '198.51.100.1'],
    ['documentation', '203.0.113.1'],
    ['multicast', '224.0.0.1'],
    ['multicast', '239.255.255.250'],
    ['reserved', '240.0.0.1'],
    ['broadcast', '255.255.255.255'],
    ['unspecified', '::'],
    ['loopback', '::1'],
    ['v4-compatible', '::7f00:1'],
    ['v4-compatible', '::8.8.8.8'],
    ['v4-mapped', '::ffff:127.0.0.1'],
    ['v4-mapped', '::ffff:a9fe:a9fe'],
    ['v4-mapped, public inside', '::ffff:8.8.8.8'],
    ['v4-translated', '::ffff:0:127.0.0.1'],
    ['NAT64', '64:ff9b::7f00:1'],
    ['NAT64, public inside', '64:ff9b::8.8.8.8'],
    ['NAT64, local use', '64:ff9b:1::a00:1'],
    ['6to4', '2002:7f00:1::'],
    ['6to4', '2002:a9fe:a9fe::1'],
    ['Teredo', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
    ['benchmarking', '2001:2::1'],
    ['ORCHIDv2', '2001:20::1'],
    ['documentation', '2001:db8::1'],
    ['documentation', '3fff::1'],
    ['unique local', 'fc00::1'],
    ['unique local, EC2 metadata', 'fd00:ec2::254'],
    ['link-local', 'fe80::1'],
    ['link-local with a zone', 'fe80::1%eth0'],
    ['site-local', 'fec0::1'],
    ['multicast', 'ff02::1'],
    ['discard', '100::1'],
    ['segment routing', '5f00::1'],
    ['unassigned', '4000::1'],
    ['not an address', 'example.com'],
    ['nothing', ''],
  ])('rejects a %s address: %s', (_kind, address) => expect(isPublicAddress(address)).toBe(false));
});

const admits = (guard: ReturnType<typeof createAddressGuard>, url: string) =>
  guard.admitsHost(destinationOf(new URL(url)));

describe('createAddressGuard without allowed pairs', () => {
  const guard = createAddressGuard([]);

  it.each([
    'http://example.com/',
    'http://example.com./',
    'https://EXAMPLE.com:8443/',
    'http://1.1.1.1/',
    'http://0x01010101/',
    'http://[2606:4700::1]/',
    'http://localhost.example.com/',
    'http://bücher.example/',
    'http://not-local.example/',
  ])('admits %s', (url) => expect(admits(guard, url)).toBe(true));

  it.each([
    ['decimal', 'http://2130706433/'],
    ['hexadecimal', 'http://0x7f000001/'],
    ['octal', 'http://0177.0.0.1/'],
    ['mixed bases', 'http://0x7f.0.0.01/'],
    ['short', 'http://127.1/'],
    ['one number', 'http://0/'],
    ['a final dot', 'http://127.0.0.1./'],
    ['full-width digits', 'http://１２７.０.０.１/'],
    ['circled digits', 'http://①②⑦.⓪.⓪.①/'],
    ['ideographic dots', 'http://127。0。0。1/'],
    ['percent-encoding', 'http://%31%32%37.0.0.1/'],
    ['userinfo before it', 'http://example.com@127.0.0.1/'],
    ['metadata as one number', 'http://2852039166/'],
    ['an IPv6 literal', 'http://[::1]/'],
    ['a v4-mapped literal', 'http://[::ffff:127.0.0.1]/'],
    ['a long IPv6 literal', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]/'],
  ])('refuses a private address in %s notation', (_notation, url) => expect(admits(guard, url)).toBe(false));

  it.each([
    'http://localhost/',
    'http://LOCALHOST/',
    'http://localhost./',
    'http://a.localhost/',
    'http://ｌｏｃａｌｈｏｓｔ/',
    'http://printer.local/',
    'http://metadata/',
    'http://metadata.google.internal/',
    'http://metadata.google.internal./',
    'http://instance-data.ec2.internal/',
    'http://instance-data/',
    'http://router.lan/',
    'http://box.home.arpa/',
    'http://localhost.localdomain/',
    'http://redis:6379/',
    'http://abcdefgh.onion/',
  ])('refuses the name in %s without a lookup', (url) => expect(admits(guard, url)).toBe(false));
});

describe('createAddressGuard with allowed pairs', () => {
  const guard = createAddressGuard(['127.0.0.1:9000', 'Origin.test:80', '[::1]:9001', 'localhost:9002']);
  const at = (hostname: string, port: number) => ({ hostname, port });

  it.each([
    ['127.0.0.1', 9000, true],
    ['127.0.0.1', 9001, false],
    ['127.0.0.2', 9000, false],
    ['[::1]', 9001, true],
    ['[::1]', 9000, false],
    ['localhost', 9002, true],
    ['localhost.', 9002, true],
    ['localhost', 9000, false],
  ])('admits %s port %d: %s', (hostname, port, open) => expect(guard.admitsHost(at(hostname, port))).toBe(open));

  it('admits every address of an allowed name, on the allowed port', () => {
    expect(guard.admitsAddress('10.0.0.1', at('origin.test', 80))).toBe(true);
    expect(guard.admitsAddress('10.0.0.1', at('origin.test', 81))).toBe(false);
  });

  it('admits an allowed address under every name, on the allowed port', () => {
    expect(guard.admitsAddress('127.0.0.1', at('other.test', 9000))).toBe(true);
    expect(guard.admitsAddress('127.0.0.1', at('other.test', 80))).toBe(false);
  });

  it.each([
    '',
    'host',
    'host:',
    ':80',
    'host:99999',
    'http://host:80',
    'a b:80',
    'host:80/path',
    'user@host:80',
    '*:80',
    '*.example.com:443',
    'host?x:80',
    'host#y:80',
    'host\\x:80',
  ])('throws for the entry %j', (entry) => expect(() => createAddressGuard([entry])).toThrow('must be host:port'));
});
