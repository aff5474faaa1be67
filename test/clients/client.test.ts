import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../clients/reelay-client/src/failure.ts';
import { createClient, ReelayError, resolveList } from '../../clients/reelay-client/src/index.ts';
import { useTarget } from '../contract/target.ts';
import { freePort } from '../support/free-port.ts';

const target = useTarget();
const client = () => createClient({ instance: target.baseUrl });
const clip = () => target.origin.url('/files/clip.mp4');
const FIRST_BYTES = { headers: { range: 'bytes=0-9' } };

describe('a client', () => {
  it('reads the state of the instance', async () => {
    expect(await client().getAppInfo()).toMatchObject({ isHealthy: true, environment: 'Development' });
  });

  it('resolves a link and reads its details and playback, and streams what they list', async () => {
    const { mediaItems } = await client().resolve(clip());
    const [rendition = expect.fail('No rendition')] = mediaItems?.[0]?.video?.renditions ?? [];
    const { muxed } = await client().getPlayback(clip());
    expect(muxed[0]?.mimeType).toBe('video/mp4');
    for (const url of [client().streamUrl(rendition), muxed[0]?.path ?? '']) {
      const response = await client().send(url, FIRST_BYTES);
      expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([206, 10]);
    }
    expect((await client().getDetails(clip())).durationSeconds).toBeCloseTo(6, 0);
  });

  it('resolves every entry of a list', async () => {
    const list = await resolveList(client(), target.origin.url('/site/list/client?n=3&slow=2'));
    expect(list).toMatchObject({ type: 'PlayList', pendingEntries: 0 });
    expect(list.mediaItems).toHaveLength(3);
  });

  it('locates the stream of a selection', async () => {
    const url = await client().locate(clip(), { quality: 'mp3', bitrate: '128' });
    expect(url).toMatch(new RegExp(`^${target.baseUrl}/api/Stream/Media/[\\w-]{33}\\?format=mp3&bitrate=128$`));
    expect(client().getUrl('https://a.example/?b=c d', { quality: '720p' })).toBe(
      `${target.baseUrl}/api/Get?url=https%3A%2F%2Fa.example%2F%3Fb%3Dc+d&quality=720p`,
    );
  });

  it('throws the reason of an aborted signal', async () => {
    const reason = new Error('Enough');
    const signal = AbortSignal.abort(reason);
    await expect(client().resolve('https://example.com', { signal })).rejects.toBe(reason);
  });

  it('rejects an instance that is no http or https URL', () => {
    expect(() => createClient({ instance: 'ftp://reelay.example' })).toThrow(TypeError);
    expect(createClient({ instance: 'https://reelay.example/below/' }).instance).toBe('https://reelay.example/below');
  });
});

describe('a failure', () => {
  it.each([
    ['/site/drm/x', { code: 'drm', status: 415, isTemporary: false }],
    ['/site/geo/x', { code: 'region', status: 415 }],
    ['/site/gone/x', { status: 404, isTemporary: false }],
    ['/site/bug/x', { status: 502, isTemporary: true }],
  ])('of %s has the type of its problem', async (path, facts) => {
    const ended = client().resolve(target.origin.url(path));
    await expect(ended).rejects.toBeInstanceOf(ReelayError);
    await expect(ended).rejects.toMatchObject(facts);
  });

  it('of a parameter names the parameter', async () => {
    const selection = { bitrate: '5' } as never;
    await expect(client().locate('https://example.com', selection)).rejects.toMatchObject({
      code: 'bad-parameter',
      message: expect.stringContaining('bitrate'),
    });
  });

  it('is unreachable where nothing listens', async () => {
    const nobody = createClient({ instance: `http://127.0.0.1:${await freePort()}` });
    const message = expect.stringMatching(/ does not respond: nothing listens there$/);
    const facts = { code: 'unreachable', isTemporary: true, status: undefined, message };
    await expect(nobody.getAppInfo()).rejects.toMatchObject(facts);
  });

  it('is an unexpected response where another server listens', async () => {
    const other = createClient({ instance: target.origin.baseUrl });
    await expect(other.getAppInfo()).rejects.toMatchObject({ code: 'unexpected-response', status: 404 });
  });

  const ofStream = (pull: (controller: ReadableStreamDefaultController) => void) =>
    new Response(new ReadableStream({ pull }));
  const broken = () => ofStream((controller) => controller.error(new TypeError('terminated')));
  // At most 64 KB of a problem are read.
  const longProblem = { type: '/problems/gone', title: 'Gone', padding: 'x'.repeat(70_000) };
  it.each<[string, () => Response, object]>([
    ['no JSON', () => new Response('<html>'), { message: 'https://other.example sent no JSON', isTemporary: false }],
    ['a long problem', () => Response.json(longProblem, { status: 404 }), { status: 404 }],
    ['a connection that breaks', broken, { code: 'unreachable', isTemporary: true }],
  ])('is told of an instance that sends %s', async (_, respond, facts) => {
    const other = createClient({ instance: 'https://other.example', fetch: async () => respond() });
    await expect(other.getAppInfo()).rejects.toMatchObject({ code: 'unexpected-response', ...facts });
  });

  it('is an unexpected response after 16 MB of JSON', async () => {
    let sentBytes = 0;
    const body = ofStream((controller) => {
      sentBytes += 1_000_000;
      controller.enqueue(new Uint8Array(1_000_000).fill(0x20));
    });
    const other = createClient({ instance: 'https://other.example', fetch: async () => body });
    await expect(other.getAppInfo()).rejects.toMatchObject({ code: 'unexpected-response', isTemporary: false });
    expect(sentBytes).toBeLessThanOrEqual(18_000_000);
  });

  it('that is temporary is retried after the time in Retry-After', async () => {
    const problem = { type: '/problems/maintenance', title: 'Installing yt-dlp' };
    const answers = [
      Response.json(problem, { status: 503, headers: { 'retry-after': '7' } }),
      Response.json({ isHealthy: true, version: '1', environment: '' }),
    ];
    const waits: unknown[] = [];
    const fetch = async () => answers.shift() ?? expect.fail('One request too many');
    const info = await createClient({ instance: 'https://reelay.example', fetch }).getAppInfo({
      maxWaitSeconds: 10,
      onWaiting: ({ failure, seconds }) => waits.push([failure.code, failure.message, seconds]),
      sleep: async (milliseconds) => void waits.push(milliseconds),
    });
    expect(info.isHealthy).toBe(true);
    expect(waits).toEqual([['maintenance', 'Installing yt-dlp', 7], 7000]);
  });
});

it.each([
  ['5', 5],
  [' 7 ', 7],
  ['0', 1],
  ['99999999', 2_592_000],
  ['Thu, 01 Jan 1970 00:01:30 GMT', 90],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 1],
  ['soon', undefined],
  ['', undefined],
  [null, undefined],
])('reads Retry-After %j as %j seconds', (header, seconds) => expect(parseRetryAfter(header, 0)).toBe(seconds));

it('a client sends its access key to no other origin than that of the instance', async () => {
  const keys: Record<string, string | null> = {};
  const fetch: typeof globalThis.fetch = async (url, init) => {
    keys[String(url)] = new Headers(init?.headers).get('authorization');
    return Response.json({});
  };
  const member = createClient({ instance: 'https://reelay.example', accessKey: 'first-key', fetch });
  for (const to of ['/api/App', 'https://other.example/file']) await member.send(to);
  expect(keys).toEqual({ 'https://reelay.example/api/App': 'Bearer first-key', 'https://other.example/file': null });
});
