import { describe, expect, it } from 'vitest';
import { startOrigin } from '../origin/server.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { openResponse, sendRequest } from '../support/request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { expectFailure } from './api-document.ts';
import { conversionOf, renditionOf } from './stream-helpers.ts';
import { isRemote, startOwnService, useTarget } from './target.ts';

// A remote instance has its own settings.
describe.skipIf(isRemote)('limits', () => {
  const target = useTarget({
    settings: { maxStreams: 3, maxStreamsPerClient: 2, maxFfmpeg: 1, playlistLimit: 2, probedHosts: ['127.0.0.1'] },
  });

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
    const refused = await target.get(path);
    expectFailure(refused, 429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await target.get(path, { method: 'HEAD' })).status).toBe(200);

    first.leave();
    const again = async () => {
      const { status: answer, leave } = await begin(path);
      leave();
      return answer;
    };
    await expect.poll(again).toBe(200);
    second.leave();
  });

  it('maxFfmpeg: 503 while every encoder is in use', async () => {
    const endless = await renditionOf(target, '/live/index.m3u8');
    const { path } = await conversionOf(target, '/files/clip.webm');
    const busy = await begin(endless.path);
    expect(busy.status).toBe(200);
    const refused = await target.get(path);
    busy.leave();
    expectFailure(refused, 503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  });

  // Which requests find that out: test/stream-service/source/file-source.
  describe('probedHosts', () => {
    /** A stream of one source and of two, by the side of the rendition. */
    const STREAMS: [name: string, side: 'video' | 'audio'][] = [
      ['a file', 'audio'],
      ['a pair', 'video'],
    ];
    let items = 0;
    const openItem = async (kind: string, side: 'video' | 'audio') => {
      const link = `/site/${kind}/${items++}`;
      const { path } = await renditionOf(target, link, side);
      return { path, resolves: () => target.origin.requestsTo(link.replace('/site/', '/site-api/')).length };
    };

    it.each(STREAMS)(
      '502 for %s that the source refuses after the first minute, once a fresh URL too',
      async (_, side) => {
        const refused = await openItem('limited', side);
        expectFailure(await target.get(refused.path), 502);
        const whole = await openItem('limited-once', side);
        const { headers, body } = await target.get(whole.path);
        expect(body).toHaveLength(Number(headers['content-length']));
        expect(body.length).toBeGreaterThan(2_000_000);
        // One for each track that is refused: concurrent ones share it.
        for (const { resolves } of [refused, whole]) expect(side === 'audio' ? [2] : [2, 3]).toContain(resolves());
      },
    );

    it('offers what the source refuses after the first minute behind what is whole, and Get and archives choose that', async () => {
      const link = '/site/limited-best/one';
      const { resource } = await target.resolve(link);
      const { video, audio } = resource.mediaItems[0] ?? expect.fail('No item');
      const NOTE = /only the first minute is served/;
      for (const side of [video, audio]) {
        const [first, ...others] = side?.renditions.filter(({ convertTo }) => convertTo === null) ?? [];
        expect(first?.description).not.toMatch(NOTE);
        expect(others.map(({ description }) => description)).toEqual([expect.stringMatching(NOTE)]);
      }
      const get = async (query: string) => {
        const { headers } = await target.get(`${target.pathOf('Get', link)}&${query}`);
        const { status, body } = await target.get(headers.location ?? expect.fail('No redirect'));
        return [status, body.length > 2_000_000];
      };
      for (const query of ['quality=best', 'quality=audio', 'format=zip'])
        expect([query, ...(await get(query))]).toEqual([query, 200, true]);
    });

    it('502 for a pair of known layout whose sound is refused later', async () => {
      const { path } = await openItem('limited-later', 'video');
      expect((await target.get(path)).status).toBe(200);
      target.origin.expireUrls();
      expect((await target.get(path)).status).toBe(502);
    });
  });

  it('playlistLimit truncates a playlist', async () => {
    expect((await target.resolve('/feeds/podcast.xml')).resource.mediaItems).toHaveLength(2);
  });
});

describe.skipIf(isRemote)('production with CORS for any origin', () => {
  const target = useTarget({ settings: { environment: 'Production', corsAllowedOrigins: ['*'] } });

  it('reports its environment, allows any origin, and has no interactive API page', async () => {
    const { headers, body } = await target.get('/api/App', { headers: { origin: 'https://any.example' } });
    expect(JSON.parse(body.toString()).environment).toBe('Production');
    expect(['*', 'https://any.example']).toContain(headers['access-control-allow-origin']);
    expect((await target.get('/swagger')).status).toBe(404);
    expect((await target.get('/Swagger/V1/Swagger.json')).status).toBe(200);
  });
});

describe.skipIf(isRemote)('restart', () => {
  it('keeps the request count and the keys', async () => {
    const origin = closeAfterwards(await startOrigin());
    const dataDir = await temporaryFolder();
    const link = encodeURIComponent(origin.url('/files/clip.mp4'));
    const first = await startOwnService(origin, { dataDir }, { hasPage: false });
    const resource = JSON.parse(
      (await sendRequest(`${first.baseUrl}/api/Fetch/GetResource?url=${link}`)).body.toString(),
    );
    await first.close();

    const second = await startOwnService(origin, { dataDir }, { hasPage: false });
    const { headers } = await sendRequest(`${second.baseUrl}/api/App/requests`);
    const key: string = resource.mediaItems[0].video.bestQualityKey;
    const stream = await sendRequest(`${second.baseUrl}/api/Stream/Media/${key}`);
    await second.close();
    expect(headers['x-request-count']).toBe('1');
    expect(stream.status).toBe(200);
  });
});
