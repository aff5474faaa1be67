import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Origin, startOrigin } from '../origin/server.ts';
import { openResponse, sendRequest } from '../support/request.ts';
import { expectProblem } from './api-document.ts';
import { conversionOf, renditionOf } from './stream-helpers.ts';
import { isRemote, startOwnService, useTarget } from './target.ts';

// A remote instance has its own settings.
describe.skipIf(isRemote)('limits', () => {
  const target = useTarget({ settings: { maxStreams: 3, maxStreamsPerClient: 2, maxFfmpeg: 1, playlistLimit: 2 } });

  /** Opens a stream; returns its status and a function that disconnects. */
  async function begin(path: string): Promise<{ status: number; leave: () => void }> {
    const leaving = new AbortController();
    const { status, body } = await openResponse(target.baseUrl + path, { signal: leaving.signal });
    body.on('error', () => undefined);
    return { status, leave: () => leaving.abort() };
  }

  it('maxStreamsPerClient: 429 until one of the streams of a client ends', async () => {
    const { path } = await renditionOf(target, '/slow/long.mp4?rate=100000');
    const [first, second] = await Promise.all([begin(path), begin(path)]);
    expect([first.status, second.status]).toEqual([200, 200]);
    const { status, headers, body } = await target.get(path);
    expect(status).toBe(429);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expectProblem(429, JSON.parse(body.toString()));

    first.leave();
    const again = async () => {
      const { status: answer, leave } = await begin(path);
      leave();
      return answer;
    };
    await expect.poll(again, { timeout: 5_000 }).toBe(200);
    second.leave();
  });

  it('maxFfmpeg: 503 while every encoder is in use', async () => {
    const endless = await renditionOf(target, '/live/index.m3u8');
    const { path } = await conversionOf(target, '/files/clip.webm');
    const busy = await begin(endless.path);
    expect(busy.status).toBe(200);
    const { status, headers, body } = await target.get(path);
    busy.leave();
    expect(status).toBe(503);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expectProblem(503, JSON.parse(body.toString()));
  });

  it('playlistLimit truncates a playlist', async () => {
    expect((await target.resolve('/feeds/podcast.xml')).resource.mediaItems).toHaveLength(2);
  });
});

describe.skipIf(isRemote)('production with CORS for any origin', () => {
  const target = useTarget({ settings: { environment: 'Production', corsAllowedOrigins: ['*'] } });

  it('reports its environment and has no interactive API page', async () => {
    expect(JSON.parse((await target.get('/api/App')).body.toString()).environment).toBe('Production');
    expect((await target.get('/swagger')).status).toBe(404);
    expect((await target.get('/swagger/v1/swagger.json')).status).toBe(200);
  });

  it('allows any origin', async () => {
    const { headers } = await target.get('/api/App', { headers: { origin: 'https://any.example' } });
    expect(['*', 'https://any.example']).toContain(headers['access-control-allow-origin']);
  });
});

describe.skipIf(isRemote)('restart', () => {
  let origin: Origin;
  let dataDir = '';
  beforeAll(async () => {
    origin = await startOrigin();
    dataDir = await mkdtemp(join(tmpdir(), 'reelay-restart-'));
  });
  afterAll(async () => {
    await origin.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('keeps the request count and the keys', async () => {
    const link = encodeURIComponent(origin.url('/files/clip.mp4'));
    const first = await startOwnService(origin, { dataDir });
    const resource = JSON.parse(
      (await sendRequest(`${first.baseUrl}/api/Fetch/GetResource?url=${link}`)).body.toString(),
    );
    await first.close();

    const second = await startOwnService(origin, { dataDir });
    const { headers } = await sendRequest(`${second.baseUrl}/api/App/requests`);
    const key: string = resource.mediaItems[0].video.bestQualityKey;
    const stream = await sendRequest(`${second.baseUrl}/api/Stream/Media/${key}`);
    await second.close();
    expect(headers['x-request-count']).toBe('1');
    expect(stream.status).toBe(200);
  });
});
