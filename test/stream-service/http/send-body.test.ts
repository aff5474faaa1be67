import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { createRoundRobin } from '../../../stream-service/http/round-robin.ts';
import { sendBody } from '../../../stream-service/http/send-body.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { listen } from '../../support/listen.ts';
import { until } from '../fixture.ts';

const CHUNK_BYTES = 65_536;
const CHUNKS = 400;

/** Those that a test sends; no others. */
const createRound = () => createRoundRobin({ turnBytes: 2 * 1024 * 1024, quantumBytes: 1024 * 1024 });

/** A server for as many clients as bodies, which are sent once the last client has connected. */
async function serve(
  bodies: readonly Readable[],
  headers: Record<string, number> = {},
  round = createRound(),
): Promise<number> {
  const options = { client: 'one', bodies: round };
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    response.writeHead(200, headers);
    responses.push(response);
    if (responses.length < bodies.length) return;
    for (const [index, body] of bodies.entries()) sendBody(body, responses[index] ?? response, options);
  });
  return closeAfterwards(await listen(server)).port;
}

async function answerAt(port: number): Promise<IncomingMessage> {
  const [answer] = (await once(get({ port }), 'response')) as [IncomingMessage];
  return answer;
}

/** What a client gets of a body, from its head on. */
const answerOf = async (body: Readable, headers?: Record<string, number>) => answerAt(await serve([body], headers));

/** Consecutive chunks with a separate buffer each, none of which is referenced later. */
function numbered(onGive: () => void = () => undefined) {
  const given: Buffer[] = [];
  const digest = createHash('sha256');
  const body = new Readable({
    read() {
      if (given.length === CHUNKS) return void this.push(null);
      const chunk = Buffer.alloc(CHUNK_BYTES, given.length);
      given.push(chunk);
      onGive();
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
])('sends every byte %s, and releases the memory of chunks', async (_, headers) => {
  const { body, given, digest } = numbered();
  expect(await digestOf(await answerOf(body, headers))).toBe(digest());
  await until(() => given.every(({ buffer }) => buffer.byteLength === 0));
});

it('does not release memory that chunks share', async () => {
  const shared = Buffer.alloc(3 * CHUNK_BYTES, 'shared');
  const body = Readable.from([0, 1, 2].map((part) => shared.subarray(part * CHUNK_BYTES, (part + 1) * CHUNK_BYTES)));
  const digest = createHash('sha256').update(shared).digest('hex');
  expect(await digestOf(await answerOf(body))).toBe(digest);
  expect(shared.buffer.byteLength).toBeGreaterThan(0);
});

it('pauses the body for a client that stops reading, and resumes it', async () => {
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

it('destroys the response when the body fails after chunks were sent', async () => {
  const body = new Readable({ read: () => undefined });
  body.push(Buffer.alloc(CHUNK_BYTES));
  const answer = await answerOf(body);
  await once(answer, 'data');
  const broken = once(answer.resume(), 'error');
  body.destroy(new Error('The source is gone'));
  expect((await broken)[0]).toMatchObject({ code: 'ECONNRESET' });
});

it.each<[string, (body: Readable, answer: IncomingMessage) => unknown]>([
  ['the body has ended', (_, answer) => answer.resume()],
  ['the body fails', (body, answer) => answer.on('error', () => undefined) && body.destroy(new Error('gone'))],
  ['the client leaves', (_, answer) => answer.destroy()],
])('leaves the round robin when %s', async (_, end) => {
  const round = createRound();
  const { body } = numbered();
  const answer = await answerAt(await serve([body], {}, round));
  expect(round.members()).toBe(1);
  end(body, answer);
  await until(() => round.members() === 0);
});

it('interleaves several bodies', async () => {
  const order: number[] = [];
  const bodies = [0, 1, 2].map((index) => numbered(() => order.push(index)));
  const port = await serve(bodies.map(({ body }) => body));
  const digests = await Promise.all(bodies.map(async () => digestOf(await answerAt(port))));
  expect(digests).toEqual(bodies.map(({ digest }) => digest()));

  let run = 0;
  let longest = 0;
  // Until the first has given all it has.
  const end = Math.min(...bodies.map((_, index) => order.lastIndexOf(index)));
  for (const [at, index] of order.slice(0, end).entries()) {
    run = index === order[at - 1] ? run + 1 : 1;
    longest = Math.max(longest, run);
  }
  // 2 MiB, and the chunk that is read before the client accepts one.
  expect(longest).toBeLessThanOrEqual(33);
});
