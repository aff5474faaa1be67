import { describe, expect, it } from 'vitest';
import { playlistCountsOf } from '../../../clients/reelay-client/src/index.ts';
import { createApi } from '../../../web/src/api/api.ts';
import { ApiFailure } from '../../../web/src/api/failure.ts';

import { resolveWhenAvailable, untilStreamable, type Waiting } from '../../../web/src/api/retry-wait.ts';
import { followRanges, hasRanges } from '../../../web/src/ui/ranges.ts';
import { serve } from '../fakes/serve.ts';

interface Said {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
}
const RESOURCE = { type: 'Media', title: 'T', author: null, coverUrl: null, mediaItems: [] };
const APP = { version: 'v1', isHealthy: true, environment: 'Production', maintenance: null };
const LINK = 'https://a.example/x?a=1&b=ü#c';

/** A fake fetch that plays canned responses per path in turn and repeats the last one. */
async function instance(script: Readonly<Record<string, readonly Said[]>>) {
  const asked: string[] = [];
  const left = new Map(Object.entries(script).map(([path, answers]) => [path, [...answers]]));
  const base = await serve((request, response) => {
    asked.push(request.url ?? '');
    const answers = left.get((request.url ?? '').split('?')[0] ?? '') ?? [];
    const {
      status = 200,
      headers = {},
      body = '',
    } = (answers.length > 1 ? answers.shift() : answers[0]) ?? { status: 404 };
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  return { base, api: createApi(base), asked };
}
const failureOf = async (work: Promise<unknown>) => {
  const failure = await work.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiFailure);
  return failure as ApiFailure;
};

describe('createApi', () => {
  it('encodes the link losslessly', async () => {
    const { api, asked } = await instance({ '/api/Fetch/GetResource': [{ body: RESOURCE }] });
    expect(await api.resolve(LINK)).toEqual(RESOURCE);
    expect(new URLSearchParams(asked[0]?.split('?')[1]).get('url')).toBe(LINK);
  });

  it('reads /api/App', async () => {
    const { api } = await instance({ '/api/App': [{ body: APP }] });
    expect(await api.getAppInfo()).toEqual({ ...APP, publicUrl: null, samples: [], sites: { count: 0, names: [] } });
  });

  it('reads which sites /api/App names, and the links to try', async () => {
    const headers = {
      'x-tools': 'yt-dlp="2026.11.20", ffmpeg="7.1", installed=@1763720000, sites=1251, named=("YouTube" "A B")',
      link: '<https://a.example/b,c>; rel="example"; title="A video", <https://a.example/d>; rel="example"; title="Music"',
    };
    const { api } = await instance({ '/api/App': [{ body: APP, headers }] });
    expect(await api.getAppInfo()).toMatchObject({
      sites: { count: 1251, names: ['YouTube', 'A B'] },
      samples: [
        { url: 'https://a.example/b,c', title: 'A video' },
        { url: 'https://a.example/d', title: 'Music' },
      ],
    });
  });

  it.each([
    [{ key: 'K', urlType: 'Combined' as const, convertTo: 'mp3' }, '/api/Stream/Media/K?format=mp3'],
    [{ key: 'a/b?c' }, '/api/Stream/Media/a%2Fb%3Fc'],
  ])('streams %j at %s', (rendition, path) => {
    expect(createApi('https://r.example/sub').streamUrl(rendition)).toBe(`https://r.example/sub${path}`);
  });

  it.each<[number, object, string, object]>([
    [400, { type: '/problems/bad-url', title: 'Bad Request' }, 'bad-link', { problem: 'bad-url' }],
    [404, { type: '/problems/gone', title: 'Resource Not Found' }, 'not-found', { problem: 'gone' }],
    [415, { type: '/problems/drm', title: 'Unsupported Media Type' }, 'refused', { problem: 'drm' }],
    [502, { title: 'Fetch Failed' }, 'failed', {}],
    [500, { title: 'Internal Server Error' }, 'failed', {}],
    [503, { type: '/problems/maintenance', title: 'Updating yt-dlp' }, 'maintenance', { retryAfterSeconds: 9 }],
    [429, { title: 'Too Many Requests' }, 'too-many', { retryAfterSeconds: 9 }],
  ])('maps status %i to its kind of failure', async (status, body, kind, facts) => {
    const headers = { 'retry-after': '9' };
    const { api } = await instance({ '/api/Fetch/GetResource': [{ status, body, headers }] });
    expect(await failureOf(api.resolve(LINK))).toMatchObject({ kind, ...facts });
  });

  it.each<[string, Said]>([
    ['a page instead of an answer', { body: '<!doctype html>' }],
    ['another JSON', { body: [1] }],
    ['a stranger’s JSON', { body: { hello: 'world' } }],
    ['null among its items', { body: { ...RESOURCE, mediaItems: [null] } }],
    ['a stranger’s 404', { status: 404, body: '<h1>Not found</h1>' }],
    ['nothing', { body: '' }],
  ])('that gives %s is none', async (_, said) => {
    const { api } = await instance({ '/api/Fetch/GetResource': [said] });
    expect((await failureOf(api.resolve(LINK))).kind).toBe('unreachable');
  });

  it('reports an unreachable instance', async () => {
    const base = await serve((request) => request.socket.resetAndDestroy());
    expect((await failureOf(createApi(base).getAppInfo())).kind).toBe('unreachable');
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'nonsense'])('does not link to %s', async (address) => {
    const items = [{ requestedUrl: address }, { requestedUrl: LINK }];
    const { api } = await instance({ '/api/Fetch/GetResource': [{ body: { ...RESOURCE, mediaItems: items } }] });
    const { mediaItems } = await api.resolve(LINK);
    expect(mediaItems.map(({ requestedUrl }) => requestedUrl)).toEqual([null, LINK]);
  });

  it("aborts with the caller's signal", async () => {
    const reason = new Error('left');
    const controller = new AbortController();
    const base = await serve(() => controller.abort(reason));
    await expect(createApi(base).resolve(LINK, controller.signal)).rejects.toBe(reason);
  });
});

/** Records delays instead of sleeping. */
function patience() {
  const seen: Waiting[] = [];
  const slept: number[] = [];
  return {
    seen,
    slept,
    options: {
      onWaiting: (waiting: Waiting) => void seen.push(waiting),
      sleep: async (milliseconds: number) => void slept.push(milliseconds / 1000),
    },
  };
}
const BUSY = {
  status: 503,
  headers: { 'retry-after': '5' },
  body: { type: '/problems/maintenance', title: 'Downloading FFmpeg' },
};

describe('resolveWhenAvailable', () => {
  it('polls during maintenance, reports its progress and resolves afterwards', async () => {
    const during = (header: string) => ({
      headers: { 'x-maintenance': header },
      body: { ...APP, maintenance: 'Downloading yt-dlp' },
    });
    const { api, asked } = await instance({
      '/api/Fetch/GetResource': [BUSY, { body: RESOURCE }],
      '/api/App': [
        during('anything'),
        during('step=fetch, tool="yt-dlp", received=12, total=34'),
        during('step=check, tool="yt-dlp"'),
        { body: APP },
      ],
    });
    const { seen, slept, options } = patience();
    expect(await resolveWhenAvailable(api, LINK, options)).toEqual(RESOURCE);
    expect(slept).toEqual([0.5, 1, 2, 2]);
    expect(seen.map(({ progress }) => progress)).toEqual([
      undefined,
      undefined,
      { step: 'fetch', tool: 'yt-dlp', receivedBytes: 12, totalBytes: 34 },
      { step: 'check', tool: 'yt-dlp' },
    ]);
    expect(new Set(seen.map(({ reason }) => reason))).toEqual(new Set(['maintenance']));
    expect(asked.filter((path) => path.includes('GetResource'))).toHaveLength(2);
  });

  it('polls less often over time and gives up after maxWaitSeconds', async () => {
    const { api } = await instance({
      '/api/Fetch/GetResource': [BUSY],
      '/api/App': [{ body: { ...APP, maintenance: 'Forever' } }],
    });
    const { slept, options } = patience();
    expect(await failureOf(resolveWhenAvailable(api, LINK, { ...options, maxWaitSeconds: 60 }))).toMatchObject({
      kind: 'maintenance',
    });
    expect(slept).toEqual([0.5, 1, 2, 4, 8, 15, 15]);
  });

  it('gives up when responses alternate', async () => {
    const { api } = await instance({ '/api/Fetch/GetResource': [BUSY], '/api/App': [{ body: APP }] });
    const { slept, options } = patience();
    expect((await failureOf(resolveWhenAvailable(api, LINK, options))).kind).toBe('maintenance');
    expect(slept.length).toBeLessThan(50);
  });

  it('tolerates a restart during maintenance', async () => {
    const { api } = await instance({
      '/api/Fetch/GetResource': [BUSY, { body: RESOURCE }],
      '/api/App': [{ status: 502 }, { body: APP }],
    });
    const { seen, options } = patience();
    expect(await resolveWhenAvailable(api, LINK, options)).toEqual(RESOURCE);
    // No link is resolved while the instance does not answer.
    expect(seen.map(({ reason }) => reason)).toEqual(['maintenance', 'maintenance']);
  });

  it('waits for Retry-After after 429', async () => {
    const refusal = { status: 429, headers: { 'retry-after': '30' }, body: { title: 'Too Many Requests' } };
    const { api } = await instance({ '/api/Fetch/GetResource': [refusal, { body: RESOURCE }] });
    const { seen, options } = patience();
    expect(await resolveWhenAvailable(api, LINK, options)).toEqual(RESOURCE);
    expect(seen).toMatchObject([{ reason: 'too-many', retrySeconds: 30 }]);
  });

  it('does not wait for permanent failures', async () => {
    const { api } = await instance({ '/api/Fetch/GetResource': [{ status: 404, body: { title: 'x' } }] });
    const { slept, options } = patience();
    expect((await failureOf(resolveWhenAvailable(api, LINK, options))).kind).toBe('not-found');
    expect(slept).toEqual([]);
  });

  it('stops waiting when aborted', async () => {
    const { api } = await instance({ '/api/Fetch/GetResource': [BUSY] });
    const controller = new AbortController();
    const reason = new Error('left');
    const work = resolveWhenAvailable(api, LINK, {
      signal: controller.signal,
      onWaiting: () => controller.abort(reason),
    });
    await expect(work).rejects.toBe(reason);
  });
});

describe('untilStreamable', () => {
  it('settles once the host responds to a one-byte range', async () => {
    const waking = { status: 503, headers: { 'retry-after': '4' }, body: { title: 'Starting' } };
    const { base } = await instance({ '/stream': [waking, waking, { status: 206, body: 'x' }] });
    const { seen, options } = patience();
    await untilStreamable(`${base}/stream`, options);
    expect(seen).toEqual(Array(2).fill({ reason: 'waking', retrySeconds: 4 }));
  });

  it.each([
    [404, 'not-found'],
    [403, 'not-found'],
    [502, 'failed'],
    [415, 'refused'],
  ])('rejects with the reason of status %i', async (status, kind) => {
    const { base } = await instance({ '/stream': [{ status, body: { title: 'x' } }] });
    expect((await failureOf(untilStreamable(`${base}/stream`))).kind).toBe(kind);
  });

  it('cancels the body of a stream without ranges', async () => {
    const left = Promise.withResolvers<void>();
    const base = await serve((_, response) => {
      response.on('close', () => left.resolve());
      response.writeHead(200).write('x'.repeat(1000));
    });
    await untilStreamable(base);
    await left.promise;
  });
});

it.each([
  ['a file', 200, { 'accept-ranges': 'bytes' }, true],
  ['what is put together while it is sent', 200, { 'accept-ranges': 'none' }, false],
  ['what does not say', 200, {}, undefined],
  ['what cannot be sent now', 503, { 'accept-ranges': 'none' }, undefined],
])('whether a stream has ranges is what HEAD reports: %s', async (_, status, headers, expected) => {
  const methods: (string | undefined)[] = [];
  const url = await serve((request, response) => {
    methods.push(request.method);
    response.writeHead(status, headers).end();
  });
  expect(await hasRanges(url)).toBe(expected);
  expect(methods).toEqual(['HEAD']);
});

it('checks range support again while a stream has none, until it is stopped', async () => {
  const said = ['none', 'none', 'bytes'];
  let asked = 0;
  const url = await serve((_request, response) => {
    response.writeHead(200, { 'accept-ranges': said[asked] ?? 'none' }).end();
    asked += 1;
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  const answers: (boolean | undefined)[] = [];
  followRanges(
    url,
    (canSeek) => {
      answers.push(canSeek);
      if (canSeek) resolve();
    },
    [1, 1, 1],
  );
  await promise;
  expect([answers, asked]).toEqual([[false, false, true], 3]);
});

describe('playlistCountsOf', () => {
  it.each([
    ['listed=3', { total: undefined, offset: 0, isCut: false, next: undefined, unavailable: [] }],
    [
      'listed=197, total=500, cut, next=200, unavailable=(2 17 42)',
      { total: 500, offset: 0, isCut: true, next: 200, unavailable: [2, 17, 42] },
    ],
    ['unavailable=(204),total=207,offset=200', { total: 207, offset: 200, isCut: false, unavailable: [204] }],
  ])('reads %s', (header, counts) => expect(playlistCountsOf(new Headers({ 'x-playlist': header }))).toEqual(counts));

  it('is undefined for a link that is no playlist', () => expect(playlistCountsOf(new Headers())).toBeUndefined());
});
