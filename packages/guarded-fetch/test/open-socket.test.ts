import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pinnedLookup } from '../src/dial.ts';
import { UpstreamError } from '../src/errors.ts';
import { openSocket } from '../src/socket.ts';

const SENT = Buffer.alloc(4 * 1024 * 1024, 'sent');
const ROOM = 256 * 1024;
/** Enough sockets that each reads the minimum at once. */
const CROWD = 256;

const server = createServer((socket) => void socket.on('error', () => undefined).end(SENT));
let opened: Socket[] = [];
beforeEach(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
});
afterEach(async () => {
  for (const socket of opened) socket.destroy();
  opened = [];
  server.close();
  await once(server, 'close');
});

async function open(): Promise<Socket> {
  const { port } = server.address() as AddressInfo;
  const lookup = pinnedLookup([{ address: '127.0.0.1', family: 4 }]);
  const socket = await openSocket({ host: 'origin.test', port, lookup }, 10_000);
  opened.push(socket);
  return socket;
}

/** Every chunk of a socket, unmerged. */
async function chunksOf(socket: Socket): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  return chunks;
}

const largest = (chunks: readonly Buffer[]) => Math.max(...chunks.map(({ length }) => length));

describe('openSocket', () => {
  it('reads up to its share at once, each chunk into a buffer of its own', async () => {
    const chunks = await chunksOf(await open());
    expect(Buffer.concat(chunks).equals(SENT)).toBe(true);
    expect(largest(chunks)).toBeGreaterThan(64 * 1024);
    expect(largest(chunks)).toBeLessThanOrEqual(ROOM);
    for (const { byteLength, buffer } of chunks) expect(buffer.byteLength).toBe(byteLength);
  });

  it('reads less at once while many sockets are open', async () => {
    const all = await Promise.all(Array.from({ length: CROWD }, open));
    const [one, ...others] = all as [Socket, ...Socket[]];
    // The first read was scheduled while fewer sockets were open.
    const [, ...chunks] = await chunksOf(one);
    expect(largest(chunks)).toBe(64 * 1024);
    for (const other of others) other.destroy();
    await Promise.all(others.map((other) => other.closed || once(other, 'close')));
    expect(largest(await chunksOf(await open()))).toBeGreaterThan(64 * 1024);
  });

  it('leaves unread bytes in the kernel', async () => {
    const resting = await open();
    await once(resting, 'readable');
    resting.read();
    // Data in flight has arrived by then.
    await chunksOf(await open());
    expect(resting.bytesRead).toBeLessThanOrEqual(ROOM);
    expect(resting.readableLength).toBe(0);
    const rest = await chunksOf(resting);
    expect(resting.bytesRead).toBe(SENT.length);
    expect(rest.length).toBeGreaterThan(0);
  });

  it('rejects with UpstreamError after timeoutMs', async () => {
    const { port } = server.address() as AddressInfo;
    const lookup = () => undefined; // It never calls back.
    await expect(openSocket({ host: 'origin.test', port, lookup }, 50)).rejects.toThrow(UpstreamError);
  });
});
