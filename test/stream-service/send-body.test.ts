import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { sendBody } from '../../stream-service/send-body.ts';
import { until } from './harness.ts';

const CHUNK_BYTES = 65_536;
const CHUNKS = 400;
let close: (() => Promise<unknown>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

/** What a client gets of a body, from its head on. */
async function answerOf(body: Readable, headers: Record<string, number> = {}): Promise<IncomingMessage> {
  const server = createServer((_request, response) => {
    response.writeHead(200, headers);
    sendBody(body, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const request = get({ port: (server.address() as AddressInfo).port });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return answer;
}

/** Chunks of its own memory each, one after the other, of which nobody keeps anything. */
function numbered() {
  const given: Buffer[] = [];
  const digest = createHash('sha256');
  const body = new Readable({
    read() {
      if (given.length === CHUNKS) return void this.push(null);
      const chunk = Buffer.alloc(CHUNK_BYTES, given.length);
      given.push(chunk);
      digest.update(chunk);
      this.push(chunk);
    },
  });
  return { body, given, digest: () => digest.digest('hex') };
}

async function digestOf(answer: IncomingMessage): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of answer) digest.update(chunk);
  return digest.digest('hex');
}

it.each([
  ['with a length', { 'content-length': CHUNKS * CHUNK_BYTES }],
  ['without one', {}],
])('sends every byte %s, and gives the memory back', async (_, headers) => {
  const { body, given, digest } = numbered();
  expect(await digestOf(await answerOf(body, headers))).toBe(digest());
  await until(() => given.every(({ buffer }) => buffer.byteLength === 0));
});

it('keeps what chunks share', async () => {
  const shared = Buffer.alloc(3 * CHUNK_BYTES, 'shared');
  const body = Readable.from([0, 1, 2].map((part) => shared.subarray(part * CHUNK_BYTES, (part + 1) * CHUNK_BYTES)));
  const digest = createHash('sha256').update(shared).digest('hex');
  expect(await digestOf(await answerOf(body))).toBe(digest);
  expect(shared.buffer.byteLength).toBeGreaterThan(0);
});

it('waits for a client that rests, and goes on where it was', async () => {
  const { body, given, digest } = numbered();
  const answer = await answerOf(body);
  let before = -1;
  await until(() => {
    const still = before === given.length;
    before = given.length;
    return still;
  });
  expect(body.isPaused()).toBe(given.length < CHUNKS);
  expect(await digestOf(answer)).toBe(digest());
});

it('breaks the connection when the body fails, though chunks of it were sent', async () => {
  const body = new Readable({ read: () => undefined });
  body.push(Buffer.alloc(CHUNK_BYTES));
  const answer = await answerOf(body);
  await once(answer, 'data');
  const broken = once(answer.resume(), 'error');
  body.destroy(new Error('The source is gone'));
  expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' });
});

it('ends the body when the client leaves', async () => {
  const { body } = numbered();
  const answer = await answerOf(body);
  answer.destroy();
  await until(() => body.destroyed);
});
