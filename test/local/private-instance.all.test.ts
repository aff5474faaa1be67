import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Playback } from '../../clients/reelay-client/src/api-types.ts';
import { syncList } from '../../clients/reelay-client/src/folder/index.ts';
import { createClient } from '../../clients/reelay-client/src/index.ts';
import { signerFor } from '../../core/http/client.ts';
import { fieldsWithoutSecrets, type Log } from '../../core/log/index.ts';
import type { Media } from '../../lambdas/api/mcp-tools.ts';
import { ALLOWED_ORIGINS } from '../contract/target-settings.ts';
import { connectMcp, MESSAGE_HEADERS, messageOf } from '../support/mcp-client.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { pathTo, startLocal } from './local-service.ts';

const KEY = 'first-key-0123456789';
const OTHER = 'second-key-0123456789';
const WRONG = 'wrong-key-0123456789';
const [ALLOWED = ''] = ALLOWED_ORIGINS;
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
const logged: unknown[] = [];
const note: Log['error'] = (message, fields) =>
  logged.push(message, fieldsWithoutSecrets(fields ?? {}), String(fields?.error));
const folder = await temporaryFolder();
await writeFile(join(folder, 'keys'), `# of a colleague\n${OTHER}\n\n`);
const { service, origin } = await startLocal({
  log: { info: note, warn: note, error: note },
  settings: {
    ACCESS_KEYS: KEY,
    ACCESS_KEYS_FILE: join(folder, 'keys'),
    CORS_ALLOWED_ORIGINS: ALLOWED_ORIGINS.join(','),
    TRUSTED_PROXIES: '1',
  },
});

type Headers = Readonly<Record<string, string>>;
const bearer = { authorization: `Bearer ${KEY}` };
const FIRST_BYTES = { range: 'bytes=0-9' };
const get = (path: string, headers: Headers = {}, init: RequestInit = {}) =>
  fetch(service.baseUrl + path, { headers, redirect: 'manual', ...init });
const statusOf = async (path: string, headers?: Headers) => (await get(path, headers)).status;
const CLIP = origin.url('/files/clip.mp4');
const keyOf = async (headers: Headers = bearer, link = CLIP): Promise<string> => {
  const { mediaItems } = (await (await get(pathTo('Fetch/GetResource', link), headers)).json()) as {
    mediaItems: { video: { bestQualityKey: string; renditions: { key: string }[] } }[];
  };
  const video = mediaItems[0]?.video;
  expect(video?.bestQualityKey).toBe(video?.renditions[0]?.key);
  return video?.bestQualityKey ?? '';
};
const linkOf = async (headers?: Headers) => `/api/Stream/Media/${await keyOf(headers)}`;
/** What a text that the instance writes has in a place, as a path of the instance. */
const linkIn = (text: string, pattern: RegExp) => {
  const found = pattern.exec(text)?.[1] ?? expect.fail(`No ${pattern} in ${text}`);
  const { pathname, search } = new URL(found.replaceAll('&amp;', '&'), service.baseUrl);
  return pathname + search;
};

/** A route of each kind, of which those of links take a signature instead of a key. */
const ROUTES: [path: string, withKey: number, init?: RequestInit][] = [
  ['/api/App/requests', 200],
  [pathTo('Fetch/GetResource', CLIP), 200],
  [pathTo('Fetch/GetPlayback', CLIP), 200],
  [pathTo('Get', CLIP), 302],
  ['/api/Stream/Media/AbCdEfGhIjKlMnOpQrStUvWxYz-_01234', 404],
  ['/api/STREAM/hls/AbCdEfGhIjKlMnOpQrStUvWxYz-_01234/master.m3u8', 404],
  [pathTo('Stream/Archive', origin.url('/feeds/podcast.xml')), 302],
  ['/api/Stream/Archive/Progress/a.b', 200],
  ['/swagger/v1/swagger.json', 200],
  ['/api/unknown', 404],
  ['/mcp', 200, { method: 'POST', body: messageOf('tools/list') }],
];
const INVALID = ', error="invalid_token"';
/** What is no key, with what is added to the challenge. */
const REFUSED: readonly (readonly [headers: Headers, error: string])[] = [
  [{}, ''],
  [{ authorization: `Bearer ${WRONG}` }, INVALID],
  [{ authorization: 'Bearer' }, INVALID],
  [{ 'x-api-key': `${KEY}${OTHER}` }, INVALID],
  [{ authorization: 'Basic dXNlcjpwYXNz' }, ''],
  // Trusted behind the front alone.
  [{ 'x-reelay-access': hashOf(KEY) }, ''],
];
const ACCEPTED: readonly Headers[] = [
  bearer,
  { 'x-api-key': KEY },
  { 'x-api-key': OTHER },
  { cookie: `theme=dark; reelay-access-key=${KEY}` },
  { authorization: `bearer ${OTHER}` },
];

describe('a private instance', () => {
  it.each(ROUTES)('answers %s with 401 without a key, and with %i for each', async (path, withKey, init) => {
    const ask = (headers: Headers) => get(path, { ...MESSAGE_HEADERS, origin: ALLOWED, ...headers }, init);
    for (const [headers, error] of REFUSED) {
      const { status, headers: answered } = await ask(headers);
      expect([status, answered.get('www-authenticate')], JSON.stringify(headers)).toEqual([
        401,
        `Bearer realm="Reelay"${error}`,
      ]);
    }
    const refused = await ask({});
    expect(refused.headers.get('access-control-allow-origin')).toBe(ALLOWED);
    expect(refused.headers.get('cache-control')).toBe('no-store');
    const detail = expect.stringContaining('X-Api-Key');
    expect(await refused.json()).toMatchObject({ title: 'Unauthorized', status: 401, detail });
    for (const headers of ACCEPTED) {
      const response = await ask(headers);
      await response.body?.cancel();
      expect(response.status, JSON.stringify(headers)).toBe(withKey);
    }
  });

  it('tells a browser of a wrong key by a page', async () => {
    const refused = await get('/api/App/requests', { authorization: `Bearer ${WRONG}`, accept: 'text/html,*/*;q=0.8' });
    expect([refused.status, refused.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Bearer /);
    const html = await refused.text();
    expect(html).toMatch(/<h1>Access key required<\/h1>\n<p><strong>The access key is not valid\.<\/strong>/);
    expect(html).toContain('href="../../problems.css"');
  });

  it('answers GetAppInfo without a key, and HEAD without a body', async () => {
    expect(await (await get('/API/app')).json()).toMatchObject({ isHealthy: true });
    const head = await get('/api/App/requests', {}, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([401, '']);
  });

  it('allows its headers in preflights, also of signed links', async () => {
    const headers = { origin: ALLOWED, 'access-control-request-method': 'GET' };
    for (const path of ['/api/App/requests', await linkOf()]) {
      const response = await get(path, headers, { method: 'OPTIONS' });
      expect([response.status, response.headers.get('access-control-allow-headers')]).toEqual([
        204,
        'Range, If-Range, Accept, Accept-Encoding, Content-Type, Prefer, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Authorization, X-Api-Key',
      ]);
    }
  });

  it('describes its security schemes', async () =>
    expect(await (await get('/swagger/v1/swagger.json', bearer)).json()).toMatchObject({
      security: [{ bearer: [] }, { apiKey: [] }],
      components: { securitySchemes: { bearer: { scheme: 'bearer' }, apiKey: { name: 'X-Api-Key' } } },
    }));
});

/** Where an operation names a stream, which then needs no header; each with what signs something else. */
const LINKS: [name: string, link: () => Promise<string>, forged?: (link: string) => string][] = [
  ['GetResource', () => linkOf(), (link) => link.replace(/Media\/./, (c) => `Media/${c.endsWith('A') ? 'B' : 'A'}`)],
  ['GetResource, as a clip', async () => `${await linkOf()}?start=1&end=2`],
  [
    'GetPlayback',
    async () => {
      const { muxed } = (await (await get(pathTo('Fetch/GetPlayback', CLIP), bearer)).json()) as Playback;
      return muxed[0]?.path ?? '';
    },
    (link) => `${link}x`,
  ],
  ['Get', async () => (await get(pathTo('Get', CLIP), bearer)).headers.get('location') ?? ''],
  [
    'HLS',
    async () => {
      const base = `/api/Stream/Hls/${await keyOf()}/`;
      const [media = ''] = /^\w+\.m3u8$/m.exec(await (await get(`${base}master.m3u8`)).text()) ?? [];
      return base + (/URI="([^"]+)"/.exec(await (await get(base + media)).text())?.[1] ?? '');
    },
  ],
  [
    'HLS of another height',
    async () => {
      const base = `/api/Stream/Hls/${await keyOf(bearer, origin.url('/hls/master.m3u8'))}/`;
      const [, media = ''] = (await (await get(`${base}all.m3u8`)).text()).match(/^[\w.-]+\.m3u8$/gm) ?? [];
      return base + (/URI="([^"]+)"/.exec(await (await get(base + media)).text())?.[1] ?? '');
    },
  ],
  [
    'a feed',
    async () =>
      linkIn(await (await get(`${pathTo('Feed', CLIP)}&quality=mp3`, bearer)).text(), /<enclosure[^>]* url="([^"]+)"/),
    // A link that begins with the signed one: a question mark is a character of a query like any other.
    (link) => `/api/Get?${link.split('?')[1]?.split('&').toReversed().join('&')}?another`,
  ],
  [
    'a Metalink',
    async () => linkIn(await (await get(`${pathTo('Feed', CLIP)}&format=metalink`, bearer)).text(), /<url>([^<]+)</),
    (link) => link.replace('clip', 'tone'),
  ],
  [
    'a library',
    async () => {
      const client = createClient({ instance: service.baseUrl, accessKey: KEY });
      const library = await temporaryFolder();
      const { entries } = await syncList(client, { link: CLIP, folder: library, selection: {}, isLibrary: true });
      expect(entries.filter(({ outcome }) => !outcome || 'failure' in outcome)).toEqual([]);
      const [file = ''] = (await readdir(library, { recursive: true })).filter((name) => name.endsWith('.strm'));
      return (await readFile(join(library, file), 'utf8')).trim().replace(service.baseUrl, '');
    },
    (link) => link.replace('access=', 'access=0'),
  ],
  [
    'MCP',
    async () => {
      const { call } = await connectMcp(service.baseUrl, { headers: bearer });
      const { data } = await call('fetch_media', { url: CLIP });
      return (data as Media).items[0]?.video[0]?.downloadUrl.replace(service.baseUrl, '') ?? '';
    },
  ],
];

describe('a link of a private instance', () => {
  it.each(LINKS)('of %s needs no header, and signs nothing else', async (_, linkTo, forged) => {
    const link = await linkTo();
    const response = await get(link, FIRST_BYTES);
    const location = response.headers.get('location');
    const media = location === null ? response : await get(location, FIRST_BYTES);
    expect([media.status, (await media.arrayBuffer()).byteLength]).toEqual([206, 10]);
    expect(media.headers.get('vary')).toContain('Authorization, X-Api-Key, Cookie');
    if (location !== null) expect(location).toMatch(/^\/api\/Stream\/Media\/[\w-]{33}\.[0-9a-f]{12}\.\d+\.[\w-]{22}/);
    if (forged) expect(await statusOf(forged(link))).toBe(403);
  });

  it('works beside a key, whatever its signature, and without one needs it', async () => {
    const link = await linkOf();
    const [bare = ''] = link.split('.');
    for (const path of [bare, link, `${link}x`]) expect(await statusOf(path, { ...bearer, ...FIRST_BYTES })).toBe(206);
    expect(await statusOf(bare)).toBe(401);
  });

  it('is signed by the key that it was resolved with', async () => {
    const [first, second] = await Promise.all([keyOf(), keyOf({ 'x-api-key': OTHER })]);
    expect(first.split('.').slice(0, 2)).toEqual([second.split('.')[0], hashOf(KEY).slice(0, 12)]);
    expect(second.split('.')[1]).toBe(hashOf(OTHER).slice(0, 12));
  });

  it.each<[string, (link: string) => string, RegExp]>([
    ['changed', (link) => link.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A')), /signature of the link is not valid/],
    ['of a removed key', (link) => signed(link, 'removed-key-0123456789'), /access key was removed/],
    ['expired', (link) => signed(link, KEY, Date.now() - 26 * 3_600_000), /has expired/],
  ])('is a 403 when it is %s', async (_, change, detail) => {
    const response = await get(change(await linkOf()));
    const problem = { title: 'Forbidden', status: 403, detail: expect.stringMatching(detail) };
    expect([response.status, await response.json()]).toMatchObject([403, problem]);
  });
  const signed = (link: string, key: string, now?: number) =>
    link.replace(/[^/]+$/, (all) => signerFor(hashOf(key), now)(all.split('.')[0] ?? ''));
});

// Which guesses count: core/http/key-guesses.unit.
describe('guesses of a key', () => {
  const from = (address: string, key: string) => ({ 'x-forwarded-for': address, 'x-api-key': key });
  const guess = (address: string, number: number) => get('/api/App/requests', from(address, `${WRONG}-${number}`));

  it('are 429 after ten different ones of a client in a minute, whether they are right or wrong', async () => {
    const attacker = '203.0.113.1';
    for (let number = 0; number < 10; number++) expect((await guess(attacker, number)).status).toBe(401);
    const refused = await guess(attacker, 10);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect(await refused.json()).toEqual({ type: '/problems/too-many', title: 'Too Many Requests', status: 429 });

    const link = await linkOf();
    for (const path of ['/api/App/requests', pathTo('Fetch/GetResource', CLIP), `${link}x`, '/swagger/v1/swagger.json'])
      expect(await statusOf(path, from(attacker, KEY)), path).toBe(429);
    // Known to be wrong; no guess at all; another client.
    expect((await guess(attacker, 0)).status).toBe(401);
    for (const path of ['/api/App', link])
      expect((await get(path, from(attacker, KEY), { method: 'HEAD' })).status).toBe(200);
    expect(await statusOf('/api/App/requests', from('203.0.113.2', KEY))).toBe(200);
  });

  it('beside a valid signature count too', async () => {
    const link = await linkOf();
    const attacker = '203.0.113.4';
    for (let number = 0; number < 10; number++)
      expect((await get(link, from(attacker, `wrong-key-${number}`), { method: 'HEAD' })).status).toBe(200);
    expect((await guess(attacker, 10)).status).toBe(429);
  });
});

it('logs no key', async () => {
  await get('/api/App/requests', { authorization: `Bearer ${WRONG}` });
  await get(await linkOf(), bearer);
  const text = JSON.stringify(logged);
  expect(text).toContain('Instance is private');
  for (const secret of [KEY, OTHER, WRONG, hashOf(KEY), hashOf(OTHER)]) expect(text).not.toContain(secret);
});
