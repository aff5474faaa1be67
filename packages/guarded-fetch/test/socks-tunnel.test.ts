import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { UpstreamError } from '@reelay/guarded-fetch';
import { expect, it } from 'vitest';
import { openSocksTunnel } from '../src/socks-tunnel.ts';
import { ACCOUNT, deadPort, serveSocks, serveTcp } from './servers.ts';

const ORIGIN = { hostname: 'origin.test', port: 80 };
const openBy = (host: string, timeoutMs = 10_000, destination = ORIGIN) =>
  openSocksTunnel(new URL(`socks5://alice:${encodeURIComponent(ACCOUNT.password)}@${host}`), destination, timeoutMs);

it.each([ORIGIN, { hostname: '93.184.216.34', port: 80 }])(
  'loses no byte to %j that arrives with the reply of the proxy',
  async (destination) => {
    const origin = await serveTcp((socket) => void socket.end('\r\n\r\nrest'));
    const routes = { [`${destination.hostname}:80`]: origin.port };
    const proxy = await serveSocks(routes, { credentials: ACCOUNT, early: 'HTTP/1.1 200 OK' });
    expect(await text(await openBy(proxy.host, 10_000, destination))).toBe('HTTP/1.1 200 OK\r\n\r\nrest');
  },
);

const sending = (sent: string) => serveTcp((socket) => void socket.resume().end(sent));
it.each<[string, () => Promise<{ host: string; idle?: () => Promise<void> }>, RegExp]>([
  [
    'rejects the account',
    () => serveSocks({}, { credentials: { ...ACCOUNT, password: 'other' } }),
    /rejected the credentials$/,
  ],
  ['does not allow the destination', () => serveSocks({}, { reply: 2 }), /does not allow the destination$/],
  ['cannot reach the destination', () => serveSocks({}, { reply: 4 }), /unreachable from the SOCKS proxy$/],
  ['is refused by the destination', () => serveSocks({}, { reply: 5 }), /refused the connection of the SOCKS proxy$/],
  ['fails otherwise', () => serveSocks({}, { reply: 1 }), /did not connect to the destination$/],
  ['is silent from the start', () => serveSocks({}, { silentAt: 'greeting' }), /did not respond in time$/],
  ['is silent after the request', () => serveSocks({}, { silentAt: 'request' }), /did not respond in time$/],
  [
    'closes the connection',
    () => sending(''),
    /^UpstreamError: The SOCKS proxy (closed the connection|sent an invalid response)$/,
  ],
  [
    'is none',
    () => sending('HTTP/1.1 400 Bad Request\r\n\r\n'),
    /^UpstreamError: The SOCKS proxy (closed the connection|sent an invalid response)$/,
  ],
  [
    'does not listen',
    async () => ({ host: `127.0.0.1:${await deadPort()}` }),
    /: Connection to the SOCKS proxy failed$/,
  ],
])('rejects with UpstreamError when the proxy %s, and closes the connection', async (what, open, reason) => {
  const proxy = await open();
  const error = await openBy(proxy.host, what.includes('silent') ? 200 : 10_000).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(UpstreamError);
  expect(String(error)).toMatch(reason);
  expect(inspect(error, { depth: 9 })).not.toMatch(/alice|w%rd|w%25rd/);
  await proxy.idle?.();
});
