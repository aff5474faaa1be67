import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bundle } from '../../infra/build/bundle.ts';
import { placeFfmpeg } from '../../infra/build/place-ffmpeg.ts';
import { startTaskFakes } from '../stream-service/task/fakes.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { type OpenResponse, openResponse, sendRequest } from '../support/request.ts';
import { startWebFunction, type WebFunctionFixture } from '../support/web-function.ts';

/** Bytes that the source sends before it pauses. */
const HELD_AT = 2 ** 20;

const fakes = closeAfterwards(await startTaskFakes());
const dir = join(fakes.dir, 'stream-function');
await bundle({ outDir: fakes.dir, only: ['stream-function'] });
await placeFfmpeg({ dir, architecture: process.arch === 'arm64' ? 'arm64' : 'x86_64' });

let running: WebFunctionFixture | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});
const start = async (added: Record<string, string> = {}) => {
  const scratch = await mkdtemp(join(fakes.dir, 'tmp-'));
  // Lambda provides neither an address nor a folder beside /tmp.
  const { HOST: _host, PORT: _port, TOOLS_DIR: _dir, ECS_AGENT_URI: _agent, ...variables } = fakes.environment;
  const folders = { DATA_DIR: scratch, TOOLS_DIR: join(scratch, 'tools'), TMPDIR: scratch };
  const environment = { ...variables, ...folders, TRUSTED_PROXIES: '2', ...added };
  running = await startWebFunction({ dir, environment });
  return running;
};
/** Reads a body until it breaks off or ends. @param onBytes called with each chunk */
async function readAll(
  { body }: OpenResponse,
  onBytes: () => void = () => undefined,
): Promise<{ received: Buffer; isComplete: boolean }> {
  const chunks: Buffer[] = [];
  const isComplete = await (async () => {
    for await (const chunk of body) {
      chunks.push(chunk);
      onBytes();
    }
    return true;
  })().catch(() => false);
  return { received: Buffer.concat(chunks), isComplete };
}

describe('the package of the Web Function', () => {
  it('serves ranges and heads with lengths, and problems, with the FFmpeg of the package', async () => {
    const { url, server } = await start();
    const { content } = fakes.source;
    const whole = await sendRequest(url + fakes.path, { method: 'HEAD' });
    expect(whole.headers).toMatchObject({ 'content-length': String(content.length), 'accept-ranges': 'bytes' });
    const range = await sendRequest(url + fakes.path, { headers: { range: 'bytes=100-199' } });
    expect([range.status, range.headers['content-length'], range.headers['content-range']]).toEqual([
      ...[206, '100', `bytes 100-199/${content.length}`],
    ]);
    expect(range.body.equals(content.subarray(100, 200))).toBe(true);
    const missing = await sendRequest(`${url}/api/Stream/Media/unknown`);
    expect([missing.status, JSON.parse(missing.body.toString())]).toEqual([
      404,
      expect.objectContaining({ status: 404 }),
    ]);
    await server.said(/^Tool installed/, { tool: 'FFmpeg' });
  });

  it('names clients by the address before those that CloudFront and Lambda append', async () => {
    const { url } = await start({ MAX_STREAMS_PER_CLIENT: '1' });
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    const first = await openResponse(url + fakes.path, from('198.51.100.1'));
    expect((await sendRequest(url + fakes.path, from('198.51.100.1'))).status).toBe(429);
    const other = await openResponse(url + fakes.path, from('198.51.100.2'));
    expect([first.status, other.status]).toEqual([200, 200]);
    first.body.destroy();
    other.body.destroy();
  });

  it('ends the stream of a client that leaves, which may then start another', async () => {
    const { url } = await start({ MAX_STREAMS_PER_CLIENT: '1' });
    const leaving = await openResponse(url + fakes.path);
    leaving.body.destroy();
    const next = () => openResponse(url + fakes.path, { headers: { range: 'bytes=0-9' } });
    await expect.poll(async () => readAll(await next()).then(({ received }) => received.length)).toBe(10);
  });

  it('ends by itself when Lambda ends its environment, also while it streams', async () => {
    const { url, server, shutDown } = await start();
    const { body } = await openResponse(url + fakes.path);
    const broken = readAll({ status: 200, headers: {}, body });
    expect(await shutDown()).toBe(0);
    expect(server.lines).toContainEqual(expect.objectContaining({ msg: 'Task shutting down', reason: 'SIGTERM' }));
    await broken;
  });

  it('is cut at the time limit, and continued by a range from the byte where it was', async () => {
    const { url, reachTimeLimit } = await start();
    const { content } = fakes.source;
    const cut = await openResponse(url + fakes.path);
    const { received, isComplete } = await readAll(cut, reachTimeLimit);
    expect([cut.status, isComplete, cut.headers['content-length']]).toEqual([200, false, String(content.length)]);
    expect(received.length).toBeGreaterThan(0);
    expect(received.length).toBeLessThanOrEqual(HELD_AT);

    fakes.source.release();
    const etag = cut.headers.etag ?? '';
    const rest = await sendRequest(url + fakes.path, {
      headers: { range: `bytes=${received.length}-`, 'if-range': etag },
    });
    expect([rest.status, etag]).toEqual([206, expect.stringMatching(/^"/)]);
    expect(Buffer.concat([received, rest.body]).equals(content)).toBe(true);
  });

  it('logs invalid settings and exits with 1', async () => {
    await expect(start({ TABLE_NAME: '' })).rejects.toThrow(/ended with 1 .*TABLE_NAME must be set/);
  });
});
