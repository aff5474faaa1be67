import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ffmpeg, mediaKey, resourceOf, type Service, startService, trackOf } from '../../stream-service/fixture.ts';
import { encodedSound } from '../../stream-service/outputs/encode/mp3/encoded-sound.ts';
import { fileSource } from '../../stream-service/outputs/encode/mp3/fixture.ts';
import { createEdge, requestOf } from '../../support/edge.ts';
import { type NginxCache, startNginxCache } from '../../support/nginx-cache.ts';
import { sendRequest } from '../../support/request.ts';

const SECONDS = 20;
const PAGE = 'https://page.example';

/** The viewer-request function and the cache in front of the stream service, in the place of CloudFront. */
describe('the edge cache', () => {
  const calls = { resources: 0, sources: 0, reads: 0, ffmpeg: 0 };
  let service: Service;
  let cache: NginxCache;
  let expected: Buffer;

  beforeAll(async () => {
    const sound = await readFile(await encodedSound('sound.m4a', SECONDS, ['-c:a', 'aac']));
    const track = trackOf('sound', { video: null, container: 'm4a' });
    const resource = resourceOf([track], { durationSeconds: SECONDS });
    service = await startService(
      resource,
      {
        sound: async () => {
          calls.sources += 1;
          const source = fileSource(sound);
          const read: typeof source.read = (...range) => {
            calls.reads += 1;
            return source.read(...range);
          };
          return { ...source, read };
        },
      },
      {
        state: {
          getResource: async (id) => {
            calls.resources += 1;
            return id === resource.id ? resource : undefined;
          },
        },
        ffmpeg: () => {
          calls.ffmpeg += 1;
          return ffmpeg;
        },
        corsAllowedOrigins: [PAGE, 'https://other.example'],
      },
    );
    cache = await startNginxCache(service.url);
    expected = (await sendRequest(`${service.url}/api/Stream/Media/${mediaKey('sound')}?format=mp3`)).body;
  });
  afterAll(async () => {
    await cache.close();
  });
  beforeEach(() => {
    Object.assign(calls, { resources: 0, sources: 0, reads: 0, ffmpeg: 0 });
  });

  /** A request of a viewer. */
  async function view(path: string, headers: Record<string, string> = {}) {
    const { result } = await createEdge('balanced', () => undefined)(requestOf(`/api/Stream/${path}`));
    const query = Object.entries(result.querystring ?? {}).map(([name, { value }]): [string, string] => [name, value]);
    const search = query.length > 0 ? `?${new URLSearchParams(query)}` : '';
    const response = await sendRequest(`${cache.url}${result.uri}${search}`, { headers });
    return { ...response, cache: response.headers['x-cache'] };
  }
  const conversion = (query = 'format=mp3') => `Media/${mediaKey('sound')}?${query}`;

  it('serves the second listener of a conversion without FFmpeg, source or state table', async () => {
    const first = await view(conversion());
    expect([first.status, first.cache, first.body.equals(expected)]).toEqual([200, 'MISS', true]);
    expect(calls.ffmpeg).toBeGreaterThan(0);
    expect(calls.reads).toBeGreaterThan(0);
    const before = { ...calls };
    const second = await view(conversion());
    expect([second.status, second.cache, second.body.equals(expected)]).toEqual([200, 'HIT', true]);
    const part = await view(conversion(), { range: 'bytes=100000-199999' });
    expect([part.status, part.body.equals(expected.subarray(100_000, 200_000))]).toEqual([206, true]);
    expect(calls).toEqual(before);
  });

  it('has one entry whatever parameters a viewer adds, none of which reaches the origin', async () => {
    await view(conversion());
    Object.assign(calls, { resources: 0 });
    for (const query of ['format=mp3&x=1', 'x=2&format=mp3&format=m4a', 'format=mp3&Start=5'])
      expect((await view(conversion(query))).cache).toBe('HIT');
    expect(calls.resources).toBe(0);
  });

  it('has an entry for each conversion, clip and origin', async () => {
    const clip = await view(conversion('format=mp3&start=5&end=9'));
    expect([clip.status, clip.cache]).toEqual([200, 'MISS']);
    expect(clip.body.length).toBeLessThan(expected.length);
    expect((await view(conversion('format=mp3&start=5&end=8'))).cache).toBe('MISS');
    expect((await view(conversion(''))).cache).toBe('MISS');
    for (const origin of [PAGE, 'https://other.example']) {
      const { headers, cache: status } = await view(conversion(''), { origin });
      expect([status, headers['access-control-allow-origin']]).toEqual(['MISS', origin]);
    }
    expect((await view(conversion(''), { origin: PAGE })).headers['access-control-allow-origin']).toBe(PAGE);
  });
});
