import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../clients/reelay-client/src/failure.ts';
import { download } from '../../clients/reelay-client/src/files/index.ts';
import { createClient, ReelayError, resolveList } from '../../clients/reelay-client/src/index.ts';
import { readSettings } from '../../core/config/settings.ts';
import { startOwnService, useTarget } from '../contract/target.ts';
import { type Origin, startOrigin } from '../origin/server.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const target = useTarget();
const client = () => createClient({ instance: target.baseUrl });

describe('a client', () => {
  it('reads the state of the instance', async () => {
    expect(await client().getAppInfo()).toMatchObject({ isHealthy: true, environment: 'Development' });
  });

  it('resolves a link, and streams what it lists', async () => {
    const { mediaItems } = await client().resolve(target.origin.url('/files/clip.mp4'));
    const [rendition] = mediaItems?.[0]?.video?.renditions ?? [];
    const response = await client().send(client().streamUrl(rendition ?? expect.fail('No rendition')), {
      headers: { range: 'bytes=0-9' },
    });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([206, 10]);
  });

  it('resolves every entry of a list', async () => {
    const list = await resolveList(client(), target.origin.url('/site/list/client?n=3&slow=2'));
    expect(list).toMatchObject({ type: 'PlayList', pendingEntries: 0 });
    expect(list.mediaItems).toHaveLength(3);
  });

  it('reads details', async () => {
    const details = await client().getDetails(target.origin.url('/files/clip.mp4'));
    expect(details.durationSeconds).toBeCloseTo(6, 0);
  });

  it('reads what players can seek in, and streams it', async () => {
    const { muxed } = await client().getPlayback(target.origin.url('/files/clip.mp4'));
    const [track] = muxed;
    expect(track?.mimeType).toBe('video/mp4');
    const response = await client().send(track?.path ?? '', { headers: { range: 'bytes=0-9' } });
    expect([response.status, (await response.arrayBuffer()).byteLength]).toEqual([206, 10]);
  });

  it('locates the stream of a selection', async () => {
    const url = await client().locate(target.origin.url('/files/clip.mp4'), { quality: 'mp3', bitrate: '128' });
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
    const error = await client()
      .resolve(target.origin.url(path))
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ReelayError);
    expect(error).toMatchObject(facts);
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
    await expect(nobody.getAppInfo()).rejects.toMatchObject({
      code: 'unreachable',
      isTemporary: true,
      status: undefined,
      message: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('is an unexpected response where another server listens', async () => {
    const other = createClient({ instance: target.origin.baseUrl });
    await expect(other.getAppInfo()).rejects.toMatchObject({ code: 'unexpected-response', status: 404 });
  });

  it('is an unexpected response where it is no JSON', async () => {
    const fetch = async () => new Response('<html>');
    const other = createClient({ instance: 'https://other.example', fetch });
    await expect(other.getAppInfo()).rejects.toMatchObject({
      code: 'unexpected-response',
      message: 'https://other.example sent no JSON',
      isTemporary: false,
    });
  });

  it('is an unexpected response after 16 MB of JSON', async () => {
    let sentBytes = 0;
    const chunk = new Uint8Array(1_000_000).fill(0x20);
    const body = new ReadableStream({
      pull(controller) {
        sentBytes += chunk.length;
        controller.enqueue(chunk);
      },
    });
    const other = createClient({ instance: 'https://other.example', fetch: async () => new Response(body) });
    await expect(other.getAppInfo()).rejects.toMatchObject({ code: 'unexpected-response', isTemporary: false });
    expect(sentBytes).toBeLessThanOrEqual(18_000_000);
  });

  it('is read from at most 64 KB of a response', async () => {
    const problem = { type: '/problems/gone', title: 'Gone', padding: 'x'.repeat(70_000) };
    const other = createClient({
      instance: 'https://other.example',
      fetch: async () => Response.json(problem, { status: 404 }),
    });
    await expect(other.getAppInfo()).rejects.toMatchObject({ code: 'unexpected-response', status: 404 });
  });

  it('is unreachable where the connection breaks in the response', async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) });
    const broken = createClient({ instance: 'https://other.example', fetch: async () => new Response(body) });
    await expect(broken.getAppInfo()).rejects.toMatchObject({ code: 'unreachable', isTemporary: true });
  });

  it('that is temporary is retried after the time in Retry-After', async () => {
    const answers = [
      new Response('{"type":"/problems/maintenance","title":"Installing yt-dlp"}', {
        status: 503,
        headers: { 'retry-after': '7' },
      }),
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

describe('a private instance', () => {
  const KEY = 'first-key-0123456789';
  let origin: Origin;
  let service: Awaited<ReturnType<typeof startOwnService>>;
  let folder = '';
  beforeAll(async () => {
    folder = await temporaryFolder();
    origin = await startOrigin();
    const { accessKeys } = readSettings({ ACCESS_KEYS: KEY });
    service = await startOwnService(origin, { dataDir: join(folder, 'data'), accessKeys }, { hasPage: false });
  });
  afterAll(async () => {
    await service.close();
    await origin.close();
  });

  it('is used with its access key', async () => {
    const link = origin.url('/files/clip.mp4');
    await expect(createClient({ instance: service.baseUrl }).resolve(link)).rejects.toMatchObject({
      code: 'unauthorized',
    });
    const own = createClient({ instance: service.baseUrl, accessKey: KEY });
    const { file } = await download(own, await own.locate(link), { folder });
    expect((await readFile(file)).equals(await readFile(join(origin.mediaDir, 'clip.mp4')))).toBe(true);
  });

  it('is the only origin that receives the key', async () => {
    const own = createClient({ instance: service.baseUrl, accessKey: KEY });
    await own.send(origin.url('/files/clip.mp4'), { method: 'HEAD' });
    expect(origin.requestsTo('/files/clip.mp4').at(-1)?.headers).not.toHaveProperty('authorization');
  });
});
