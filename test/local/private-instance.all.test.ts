import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Playback } from '../../clients/reelay-client/src/api-types.ts';
import { syncList } from '../../clients/reelay-client/src/folder/index.ts';
import { createClient } from '../../clients/reelay-client/src/index.ts';
import { readSettings } from '../../core/config/settings.ts';
import { signerFor } from '../../core/http/client.ts';
import { fieldsWithoutSecrets, type Log } from '../../core/log/index.ts';
import type { Media } from '../../lambdas/api/mcp-tools.ts';
import { startService } from '../../local/service/service.ts';
import { ALLOWED_ORIGINS } from '../contract/target-settings.ts';
import { startOrigin } from '../origin/server.ts';
import { itWith } from '../support/clients.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { connectMcp, MESSAGE_HEADERS, messageOf } from '../support/mcp-client.ts';
import { runProgram } from '../support/media-tools.ts';
import { NODE_ENVIRONMENT } from '../support/node-environment.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

const KEY = 'first-key-0123456789';
const OTHER = 'second-key-0123456789';
const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
const origin = closeAfterwards(await startOrigin());
const logged: unknown[] = [];
const log: Log = {
  info: (...line) => logged.push(line),
  warn: (...line) => logged.push(line),
  error: (message, fields) => logged.push(message, fieldsWithoutSecrets(fields ?? {}), String(fields?.error)),
};
const folder = await temporaryFolder();
await writeFile(join(folder, 'keys'), `# of a colleague\n${OTHER}\n\n`);
const settings = readSettings({
  ACCESS_KEYS: KEY,
  ACCESS_KEYS_FILE: join(folder, 'keys'),
  DATA_DIR: join(folder, 'data'),
  TOOLS_DIR: await createToolsFolder(join(folder, 'tools')),
  EGRESS_ALLOW: origin.host,
  CORS_ALLOWED_ORIGINS: ALLOWED_ORIGINS.join(','),
  TOOLS_UPDATE_HOURS: '0',
  TRUSTED_PROXIES: '1',
});
const service = closeAfterwards(await startService({ settings: { ...settings, port: 0 }, log, hasPage: false }));
await service.ready;

const bearer = { authorization: `Bearer ${KEY}` };
const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(service.baseUrl + path, { headers, redirect: 'manual', ...init });
const resolvePath = (file = 'clip.mp4') =>
  `/api/Fetch/GetResource?url=${encodeURIComponent(origin.url(`/files/${file}`))}`;
const keyOf = async (headers: Record<string, string> = bearer, file?: string): Promise<string> => {
  const { mediaItems } = (await (await get(resolvePath(file), headers)).json()) as {
    mediaItems: { video: { bestQualityKey: string; renditions: { key: string }[] } }[];
  };
  const video = mediaItems[0]?.video;
  expect(video?.bestQualityKey).toBe(video?.renditions[0]?.key);
  return video?.bestQualityKey ?? '';
};

describe('a private instance', () => {
  it.each([
    '/api/App/requests',
    resolvePath(),
    `/api/Get?url=${encodeURIComponent(origin.url('/files/clip.mp4'))}`,
    '/api/Stream/Media/AbCdEfGhIjKlMnOpQrStUvWxYz-_01234',
    '/api/STREAM/hls/AbCdEfGhIjKlMnOpQrStUvWxYz-_01234/master.m3u8',
    `/api/Stream/Archive?url=${encodeURIComponent(origin.url('/feeds/podcast.xml'))}`,
    '/api/Stream/Archive/Progress/a.b',
    '/swagger/v1/swagger.json',
    '/api/unknown',
  ])('answers %s with 401 without a key', async (path) => {
    const response = await get(path, { origin: ALLOWED_ORIGINS[0] ?? '' });
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer realm="Reelay"');
    expect(response.headers.get('access-control-allow-origin')).toBe(ALLOWED_ORIGINS[0]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toMatchObject({
      title: 'Unauthorized',
      status: 401,
      detail: expect.stringContaining('X-Api-Key'),
    });
  });

  it.each<[Record<string, string>, string]>([
    [{ authorization: 'Bearer wrong-key-0123456789' }, ', error="invalid_token"'],
    [{ authorization: 'Bearer' }, ', error="invalid_token"'],
    [{ 'x-api-key': `${KEY}${OTHER}` }, ', error="invalid_token"'],
    [{ authorization: 'Basic dXNlcjpwYXNz' }, ''],
    // Trusted behind the front alone.
    [{ 'x-reelay-access': hashOf(KEY) }, ''],
  ])('answers %j with 401', async (headers, error) => {
    const response = await get('/api/App/requests', headers);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe(`Bearer realm="Reelay"${error}`);
  });

  it('answers GetAppInfo without a key, and HEAD without a body', async () => {
    expect(await (await get('/API/app')).json()).toMatchObject({ isHealthy: true });
    const head = await get('/api/App/requests', {}, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([401, '']);
  });

  it.each<Record<string, string>>([
    bearer,
    { 'x-api-key': KEY },
    { 'x-api-key': OTHER },
    { cookie: `theme=dark; reelay-access-key=${KEY}` },
    { authorization: `bearer ${OTHER}` },
  ])('accepts %j', async (headers) => expect((await get('/api/App/requests', headers)).status).toBe(200));

  it('signs the paths of GetPlayback, which then need no header', async () => {
    const path = `/api/Fetch/GetPlayback?url=${encodeURIComponent(origin.url('/files/clip.mp4'))}`;
    expect((await get(path)).status).toBe(401);
    const { muxed } = (await (await get(path, bearer)).json()) as Playback;
    const { status, headers } = await get(muxed[0]?.path ?? '', { range: 'bytes=0-9' });
    expect([status, headers.get('content-range')]).toEqual([206, expect.stringMatching(/^bytes 0-9\//)]);
    expect((await get(`${muxed[0]?.path}x`)).status).toBe(403);
    const [key = ''] = muxed[0]?.key.split('.') ?? [];
    expect((await get(`/api/Stream/Media/${key}`)).status).toBe(401);
  });

  it('signs the links of a library, which then need no header', async () => {
    const client = createClient({ instance: service.baseUrl, accessKey: KEY });
    const library = await temporaryFolder();
    for (const source of ['/files/clip.mp4', '/feeds/one.xml']) {
      const { entries } = await syncList(client, {
        link: origin.url(source),
        folder: library,
        selection: {},
        isLibrary: true,
      });
      expect(entries.filter(({ outcome }) => !outcome || 'failure' in outcome)).toEqual([]);
    }
    const links = (await readdir(library, { recursive: true })).filter((file) => file.endsWith('.strm'));
    expect(links).toHaveLength(2);
    const [name = ''] = links.filter((file) => file.includes('clip'));
    const link = (await readFile(join(library, name), 'utf8')).trim();
    expect((await fetch(link, { redirect: 'manual' })).status).toBe(302);
    const media = await fetch(link, { headers: { range: 'bytes=0-9' } });
    expect([media.status, (await media.arrayBuffer()).byteLength]).toEqual([206, 10]);
    expect((await fetch(link.replace('access=', 'access=0'))).status).toBe(403);
  });

  it('allows its headers in preflights, also of signed links', async () => {
    const headers = { origin: ALLOWED_ORIGINS[0] ?? '', 'access-control-request-method': 'GET' };
    for (const path of ['/api/App/requests', `/api/Stream/Media/${await keyOf()}`]) {
      const response = await get(path, headers, { method: 'OPTIONS' });
      expect(response.status).toBe(204);
      expect(response.headers.get('access-control-allow-headers')).toBe(
        'Range, If-Range, Accept, Content-Type, Prefer, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Authorization, X-Api-Key',
      );
    }
  });

  it('describes its security schemes', async () =>
    expect(await (await get('/swagger/v1/swagger.json', bearer)).json()).toMatchObject({
      security: [{ bearer: [] }, { apiKey: [] }],
      components: { securitySchemes: { bearer: { scheme: 'bearer' }, apiKey: { name: 'X-Api-Key' } } },
    }));
});

describe('a link of a private instance', () => {
  it('works without headers, by ranges too', async () => {
    const key = await keyOf();
    const response = await get(`/api/Stream/Media/${key}`, { range: 'bytes=0-9' });
    expect(response.status).toBe(206);
    expect(response.headers.get('vary')).toContain('Authorization, X-Api-Key, Cookie');
    expect((await get(`/api/Stream/Media/${key}?start=1&end=2`)).status).toBe(200);
  });

  itWith('curl')('is downloaded by curl, which has no key', async () => {
    const file = join(folder, 'curl.mp4');
    const url = `${service.baseUrl}/api/Stream/Media/${await keyOf()}`;
    expect((await runProgram('curl', ['--silent', '--fail', '--output', file, url])).code).toBe(0);
    expect((await readFile(file)).equals(await readFile(join(origin.mediaDir, 'clip.mp4')))).toBe(true);
  });

  itWith('aria2c')('is downloaded by aria2c in parts', async () => {
    const url = `${service.baseUrl}/api/Stream/Media/${await keyOf()}`;
    const args = ['-q', '-x', '4', '-s', '4', '-k', '1M', '-d', folder, '-o', 'aria2c.mp4', url];
    expect((await runProgram('aria2c', args)).code).toBe(0);
    const file = await readFile(join(folder, 'aria2c.mp4'));
    expect(file.equals(await readFile(join(origin.mediaDir, 'clip.mp4')))).toBe(true);
  });

  itWith('mpv')('plays in mpv', async () => {
    const url = `${service.baseUrl}/api/Stream/Media/${await keyOf()}`;
    const args = ['--no-config', '--vo=null', '--ao=null', '--frames=5', '--term-status-msg=', url];
    expect(await runProgram('mpv', args)).toMatchObject({ code: 0, output: expect.stringContaining('h264') });
  });

  it('is what Get redirects to', async () => {
    const response = await get(`/api/Get?url=${encodeURIComponent(origin.url('/files/clip.mp4'))}`, bearer);
    expect(response.status).toBe(302);
    const location = response.headers.get('location') ?? '';
    expect(location).toMatch(/^\/api\/Stream\/Media\/[\w-]{33}\.[0-9a-f]{12}\.\d+\.[\w-]{22}/);
    expect((await get(location, { range: 'bytes=0-1' })).status).toBe(206);
  });

  it('includes the playlists of HLS and what they refer to', async () => {
    const base = `/api/Stream/Hls/${await keyOf()}/`;
    const playlist = await (await get(`${base}master.m3u8`)).text();
    const media = /^\w+\.m3u8$/m.exec(playlist)?.[0] ?? '';
    const segments = await (await get(base + media)).text();
    const file = /URI="([^"]+)"/.exec(segments)?.[1] ?? '';
    expect((await get(base + file, { range: 'bytes=0-1' })).status).toBe(206);
  });

  it('is in feeds, which podcast clients read without headers for a year', async () => {
    const feed = await get(`/api/Feed?url=${encodeURIComponent(origin.url('/files/clip.mp4'))}&quality=mp3`, bearer);
    const text = await feed.text();
    const enclosure = /<enclosure[^>]* url="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const { pathname, search } = new URL(enclosure, service.baseUrl);
    expect(pathname).toBe('/api/Get');
    expect((await get(pathname + search)).status).toBe(302);
    expect((await get(`${pathname}${search.replace('clip', 'tone')}`)).status).toBe(403);
    // A link that begins with the signed one: a question mark is a character of a query like any other.
    expect((await get(`${pathname}?${search.slice(1).split('&').toReversed().join('&')}?another`)).status).toBe(403);
  });

  it('is in the addresses for download managers', async () => {
    const link = encodeURIComponent(origin.url('/files/clip.mp4'));
    const text = await (await get(`/api/Feed?url=${link}&format=metalink`, bearer)).text();
    const address = /<url>([^<]+)</.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const { pathname, search } = new URL(address, service.baseUrl);
    const { status, headers } = await get(pathname + search);
    expect(status).toBe(302);
    expect((await get(headers.get('location') ?? '', { range: 'bytes=0-1' })).status).toBe(206);
  });

  it('works beside a key, whatever its signature', async () => {
    const key = await keyOf();
    const bare = key.split('.')[0] ?? '';
    for (const path of [bare, key, `${key}x`]) {
      const response = await get(`/api/Stream/Media/${path}`, { ...bearer, range: 'bytes=0-1' });
      expect(response.status).toBe(206);
    }
    expect((await get(`/api/Stream/Media/${bare}`)).status).toBe(401);
  });

  it('is signed by the key that it was resolved with', async () => {
    const [first, second] = await Promise.all([keyOf(), keyOf({ 'x-api-key': OTHER })]);
    expect(first.split('.').slice(0, 2)).toEqual([second.split('.')[0], hashOf(KEY).slice(0, 12)]);
    expect(second.split('.')[1]).toBe(hashOf(OTHER).slice(0, 12));
  });

  it.each<[string, (key: string) => string, RegExp]>([
    ['changed', (key) => key.replace(/.$/, (c) => (c === 'A' ? 'B' : 'A')), /signature of the link is not valid/],
    [
      'of another file',
      (key) => key.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')),
      /signature of the link is not valid/,
    ],
    [
      'of a removed key',
      (key) => signerFor(hashOf('removed-key-0123456789'))(key.split('.')[0] ?? ''),
      /access key was removed/,
    ],
    ['expired', (key) => signerFor(hashOf(KEY), Date.now() - 26 * 3_600_000)(key.split('.')[0] ?? ''), /has expired/],
  ])('is a 403 when it is %s', async (_, change, detail) => {
    const response = await get(`/api/Stream/Media/${change(await keyOf())}`);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      title: 'Forbidden',
      status: 403,
      detail: expect.stringMatching(detail),
    });
  });
});

describe('guesses of a key', () => {
  const from = (address: string, key: string) => ({ 'x-forwarded-for': address, 'x-api-key': key });
  const guess = (address: string, number: number) =>
    get('/api/App/requests', from(address, `wrong-key-0123456789-${number}`));

  it('are 429 after ten different ones of a client in a minute, whether they are right or wrong', async () => {
    const attacker = '203.0.113.1';
    for (let number = 0; number < 10; number++) expect((await guess(attacker, number)).status).toBe(401);
    const refused = await guess(attacker, 10);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toEqual({ type: '/problems/too-many', title: 'Too Many Requests', status: 429 });

    const link = `/api/Stream/Media/${await keyOf()}`;
    for (const path of ['/api/App/requests', resolvePath(), `${link}x`, '/swagger/v1/swagger.json'])
      expect((await get(path, from(attacker, KEY))).status, path).toBe(429);
    // Known to be wrong; no guess at all; another client.
    expect((await guess(attacker, 0)).status).toBe(401);
    for (const path of ['/api/App', link])
      expect((await get(path, from(attacker, KEY), { method: 'HEAD' })).status).toBe(200);
    expect((await get('/api/App/requests', from('203.0.113.2', KEY))).status).toBe(200);
  });

  it('do not end the access of a client that has a key', async () => {
    const shared = '203.0.113.3';
    expect((await get('/api/App/requests', from(shared, OTHER))).status).toBe(200);
    for (let number = 0; number < 10; number++) await guess(shared, number);
    expect((await guess(shared, 10)).status).toBe(429);
    expect((await get('/api/App/requests', from(shared, OTHER))).status).toBe(200);
  });

  it('beside a valid signature count too', async () => {
    const link = `/api/Stream/Media/${await keyOf()}`;
    const attacker = '203.0.113.4';
    for (let number = 0; number < 10; number++)
      expect((await get(link, from(attacker, `wrong-key-${number}`), { method: 'HEAD' })).status).toBe(200);
    expect((await guess(attacker, 10)).status).toBe(429);
  });
});

it('logs no key', async () => {
  await get('/api/App/requests', { authorization: 'Bearer wrong-key-0123456789' });
  await get(`/api/Stream/Media/${await keyOf()}`, bearer);
  const text = JSON.stringify(logged);
  expect(text).toContain('Instance is private');
  for (const secret of [KEY, OTHER, 'wrong-key-0123456789', hashOf(KEY), hashOf(OTHER)])
    expect(text).not.toContain(secret);
});

it('refuses to start with a short key, and prints no part of it', async () => {
  const main = resolve(import.meta.dirname, '../../local/main.ts');
  const child = spawn(process.execPath, [main], {
    env: { ...NODE_ENVIRONMENT, ACCESS_KEYS: 'too-short', PORT: '0' },
    cwd: folder,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  expect([code, output.trim()]).toEqual([1, 'ACCESS_KEYS: key 1 has 9 characters; it must have at least 16']);
});

describe('POST /mcp of a private instance', () => {
  const list = (headers = {}) =>
    get('/mcp', { ...MESSAGE_HEADERS, ...headers }, { method: 'POST', body: messageOf('tools/list') });

  it('needs a key', async () => {
    const refused = await list();
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="Reelay"']);
    expect((await list(bearer)).status).toBe(200);
    expect((await list({ 'x-api-key': OTHER })).status).toBe(200);
  });

  it('returns addresses that need none', async () => {
    const { call } = await connectMcp(service.baseUrl, { headers: bearer });
    const { data } = await call('fetch_media', { url: origin.url('/files/clip.mp4') });
    const { downloadUrl } = (data as Media).items[0]?.video[0] ?? expect.fail('No video');
    const response = await fetch(downloadUrl);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    await response.body?.cancel();
  });
});
