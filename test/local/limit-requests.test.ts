import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createRequestLimit } from '../../local/service/limit-requests.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { listen } from '../support/listen.ts';

const BURST = 10;
const REQUEST = 'GET /api/App HTTP/1.1\r\nHost: a\r\n';
/** Of a connection, into one buffer of libuv. */
const NODE_READS_BYTES = 64 * 1024;
const FROM = { first: '127.0.0.1', second: '127.0.0.2' };

/** A server with the limit in front: one request per second, ten at once. Its clock stands still. */
async function start({ perSecond = 1, trustedProxies = 0, maxStreamsPerClient = 10 } = {}) {
  let now = 0;
  const pass = (ms: number) => {
    now += ms;
  };
  const options = { maxRequestsPerClient: perSecond, maxStreamsPerClient, trustedProxies, corsAllowedOrigins: [] };
  const limit = createRequestLimit({ ...options, now: () => now });
  const counts = { parsed: 0, served: 0, delayed: 0 };
  const open: ServerResponse[] = [];
  const server = createServer((request, response) => {
    let isServedAtOnce = true;
    counts.parsed += 1;
    limit.admit(request, response, () => {
      counts.served += 1;
      counts.delayed += Number(!isServedAtOnce);
      if (request.url === '/open') open.push(response);
      else response.end();
    });
    isServedAtOnce = false;
  });
  const serve = server.listeners('connection');
  const held: Socket[] = [];
  server.removeAllListeners('connection').on('connection', (socket) => {
    if (limit.admitConnection(socket)) for (const listener of serve) listener.call(server, socket);
    else held.push(socket);
  });
  const { port } = closeAfterwards(await listen(server));

  const openFrom = (from: string) =>
    connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => undefined);
  const send = async (from = FROM.first, headers = '') => {
    const socket = openFrom(from);
    socket.write(`${REQUEST}${headers}Connection: close\r\n\r\n`);
    const answer = await text(socket).catch(() => '');
    return { status: Number(answer.split(' ')[1] ?? 0), answer };
  };
  const sendMany = async (count: number, from?: string, headers?: string) => {
    const statuses: number[] = [];
    for (let sent = 0; sent < count; sent += 1) statuses.push((await send(from, headers)).status);
    return statuses;
  };
  return { counts, held, open: openFrom, openResponses: open, pass, send, sendMany };
}

const times = (count: number, status: number) => Array<number>(count).fill(status);

describe('a client that sends too many requests', () => {
  it('gets 429 with Retry-After beyond its burst, while others are served', async () => {
    const { send, sendMany } = await start();
    expect(await sendMany(BURST)).toEqual(times(BURST, 200));
    const { status, answer } = await send();
    expect(status).toBe(429);
    expect(answer).toMatch(/^retry-after: 1\r$/im);
    expect(answer).toMatch(/^connection: close\r$/im);
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toMatchObject({ title: 'Too Many Requests', status: 429 });
    expect(await sendMany(BURST, FROM.second)).toEqual(times(BURST, 200));
  });

  it('is not answered any more when it continues: its connections are held, unread, and closed', async () => {
    const { held, send, sendMany, counts } = await start();
    await sendMany(BURST + 1);
    expect((await send()).status).toBe(0);
    expect(held.length).toBeGreaterThan(0);
    expect(counts.served).toBe(BURST);
    expect((await send(FROM.second)).status).toBe(200);
  });

  it('is cut off in the midst of requests that it sends without waiting for answers', async () => {
    const { open, counts } = await start();
    const socket = open(FROM.first);
    socket.write(`${REQUEST}\r\n`.repeat(1000));
    await once(socket.resume(), 'close');
    expect(counts.served).toBeLessThanOrEqual(BURST);
  });

  it('costs as many requests as Node reads at once, however many it sends without reading', async () => {
    const { held, open, counts, pass, send } = await start({ perSecond: 100 });
    const flood = `${REQUEST}\r\n`.repeat(3e6 / REQUEST.length);
    open(FROM.first).write(flood);
    await expect.poll(() => counts.parsed).toBeGreaterThan(1000);
    // Those that were answered alone would make it wait for half a second now, which is not yet ignored.
    pass(500);
    for (let connection = 1; connection <= 5; connection += 1) {
      open(FROM.first).write(flood);
      await expect.poll(() => held.length).toBe(connection);
    }
    expect(counts.parsed).toBeLessThan((3 * NODE_READS_BYTES) / REQUEST.length);
    expect(counts.served).toBeLessThanOrEqual(100 * BURST);
    expect((await send(FROM.second)).status).toBe(200);
  });

  it('is not read while a connection has many requests in hand, and continues when they are answered', async () => {
    const { open, openResponses, counts, send } = await start({ perSecond: 1000 });
    const socket = open(FROM.first);
    let answers = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      answers += text;
    });
    const request = 'GET /open HTTP/1.1\r\nHost: a\r\n\r\n';
    for (let sent = 1; sent <= 16; sent += 1) {
      socket.write(request);
      await expect.poll(() => counts.served).toBe(sent);
    }
    await new Promise<void>((sent) => socket.write(request.repeat(4), () => sent()));
    await send(FROM.second);
    expect(counts.parsed).toBe(16 + 1);
    for (const response of openResponses.splice(0)) response.end();
    await expect.poll(() => openResponses.length).toBe(4);
    for (const response of openResponses) response.end();
    await expect.poll(() => answers.match(/HTTP\/1\.1 200/g)?.length).toBe(20);
    socket.destroy();
  });

  it('is served again once it has waited', async () => {
    const { sendMany, pass } = await start();
    await sendMany(BURST + 3);
    pass(60_000);
    expect(await sendMany(BURST)).toEqual(times(BURST, 200));
  });
});

describe('the connections of a client', () => {
  const openMany = async (open: (from: string) => Socket, count: number) => {
    const sockets = Array.from({ length: count }, () => open(FROM.first));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    return sockets;
  };

  it('are closed beyond 512, while another client connects', async () => {
    const { open, send } = await start();
    const sockets = await openMany(open, 512);
    expect((await send()).status).toBe(0);
    expect((await send(FROM.second)).status).toBe(200);
    sockets[0]?.destroy();
    await expect.poll(async () => (await send()).status).toBe(200);
  });

  it.each([
    ['of a proxy', { trustedProxies: 1 }],
    ['where a client may have more streams', { maxStreamsPerClient: 400 }],
  ])('are not closed %s', async (_, options) => {
    const { open, send } = await start(options);
    await openMany(open, 520);
    expect((await send()).status).toBe(200);
  });
});

describe('behind a proxy', () => {
  it('counts the clients that it reports, and closes none of its connections', async () => {
    const { held, sendMany } = await start({ trustedProxies: 1 });
    const one = 'X-Forwarded-For: 192.0.2.1\r\n';
    expect(await sendMany(BURST + 5, FROM.first, one)).toEqual([...times(BURST, 200), ...times(5, 429)]);
    expect(await sendMany(1, FROM.first, 'X-Forwarded-For: 192.0.2.2\r\n')).toEqual([200]);
    expect(held).toEqual([]);
  });

  it('bounds a network of IPv6, whatever addresses of it are used', async () => {
    const { sendMany } = await start({ trustedProxies: 1 });
    const statuses: number[] = [];
    for (let client = 0; client < 50; client += 1)
      statuses.push(...(await sendMany(1, FROM.first, `X-Forwarded-For: 2001:db8:1:${client.toString(16)}00::1\r\n`)));
    expect(statuses).toEqual([...times(4 * BURST, 200), ...times(10, 429)]);
  });
});

describe('a client with many requests within its limit', () => {
  const MANY = 210;
  const sendAtOnce = (send: () => Promise<{ status: number }>) =>
    Promise.all(Array.from({ length: MANY }, async () => (await send()).status));

  /** Another client is served, without end. */
  const occupy = async ({ open, counts }: Pick<Awaited<ReturnType<typeof start>>, 'open' | 'counts'>) => {
    const other = open(FROM.second);
    other.write('GET /open HTTP/1.1\r\nHost: a\r\n\r\n');
    await expect.poll(() => counts.served).toBe(1);
    return other;
  };

  it('is served at once while it is alone', async () => {
    const { send, counts } = await start({ perSecond: 1000 });
    expect(await sendAtOnce(send)).toEqual(times(MANY, 200));
    expect(counts.delayed).toBe(0);
  });

  it('waits while others are served, and is not refused', async () => {
    const { open, send, sendMany, counts } = await start({ perSecond: 1000 });
    const other = await occupy({ open, counts });
    expect(await sendAtOnce(send)).toEqual(times(MANY, 200));
    expect(counts.delayed).toBe(MANY - 200);
    expect(await sendMany(1, FROM.second)).toEqual([200]);
    other.destroy();
  });

  it('does not cost anything when it has gone before its turn', async () => {
    const { open, send, counts } = await start({ perSecond: 1000 });
    const other = await occupy({ open, counts });
    await Promise.all(Array.from({ length: 200 }, () => send()));
    const leaver = open(FROM.first);
    leaver.write(`${REQUEST}\r\n`);
    leaver.destroySoon();
    await once(leaver, 'close');
    expect((await send()).status).toBe(200);
    expect(counts.served).toBe(1 + 200 + 1);
    other.destroy();
  });
});

it('does not limit requests where the setting is 0', async () => {
  const { sendMany } = await start({ perSecond: 0 });
  expect(await sendMany(300)).toEqual(times(300, 200));
});
