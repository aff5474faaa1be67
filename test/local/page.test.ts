import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createPageServer, type PageServerOptions } from '../../local/service/page-server.ts';
import securityHeaders from '../../web/security-headers.json' with { type: 'json' };
import { closeAfterwards } from '../support/close-afterwards.ts';
import { listen } from '../support/listen.ts';
import { sendRequest } from '../support/request.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const START = `<!doctype html><title>start</title>${'<p>some text</p>'.repeat(100)}`;
const FILES: Readonly<Record<string, string>> = {
  'index.html': START,
  'not-found.html': '<title>nothing here</title>',
  'assets/index-abc.js': 'export const some = 1;'.repeat(50),
  'icon.svg': '<svg/>',
  'tiny.txt': 'x',
  '.built-from': 'secret',
};

const folder = await temporaryFolder();
const dir = join(folder, 'web');
const logged: string[] = [];
const log = { info: () => undefined, warn: () => undefined, error: (message: string) => void logged.push(message) };

/** The page on a server of its own; what is not the page's is answered `api`. */
async function serve(built: Promise<string>, options: Pick<PageServerOptions, 'securityContacts'> = {}) {
  const page = createPageServer({ built, log, ...options });
  const server = createServer((request, response) => {
    if (page.owns(request)) page.handle(request, response);
    else response.end('api');
  });
  const { port, url: baseUrl } = closeAfterwards(await listen(server));
  return { page, port, baseUrl };
}

await mkdir(join(dir, 'assets'), { recursive: true });
for (const [name, content] of Object.entries(FILES)) await writeFile(join(dir, name), content);
await writeFile(join(folder, 'outside.txt'), 'outside');
const { baseUrl, port, page: served } = await serve(Promise.resolve(dir));
await served.ready;

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  sendRequest(baseUrl + path, { headers, method });

const HTML = 'text/html; charset=utf-8';
const [ALWAYS, FOR_A_YEAR] = ['no-cache', 'public, max-age=31536000, immutable'];

describe('existing files', () => {
  it.each([
    ['/', START, HTML, ALWAYS],
    ['/?url=https://a.example/', START, HTML, ALWAYS],
    ['/problems/drm', expect.stringContaining('<h1>Protected content</h1>'), HTML, ALWAYS],
    ['/assets/index-abc.js', FILES['assets/index-abc.js'], 'text/javascript; charset=utf-8', FOR_A_YEAR],
    ['/icon.svg', '<svg/>', 'image/svg+xml; charset=utf-8', ALWAYS],
    ['/%69con.svg', '<svg/>', 'image/svg+xml; charset=utf-8', ALWAYS],
  ])('%s is sent with its type and Cache-Control', async (path, content, type, cacheControl) => {
    const { status, headers, body } = await get(path);
    expect(status).toBe(200);
    expect(body.toString()).toEqual(content);
    expect(headers).toMatchObject({ 'content-type': type, 'cache-control': cacheControl });
    expect(headers['content-length']).toBe(String(body.length));
  });

  it.each(['/', '/assets/index-abc.js', '/nowhere'])('%s carries every security header', async (path) => {
    const { headers } = await get(path);
    for (const [name, value] of Object.entries(securityHeaders)) expect(headers[name.toLowerCase()]).toBe(value);
  });

  it.each([
    ['br', 'br, gzip', brotliDecompressSync],
    ['gzip', 'gzip, deflate', gunzipSync],
    ['gzip', 'gzip, br;q=0', gunzipSync],
  ])('are sent as %s to a client that accepts %s', async (coding, accept, decode) => {
    const { headers, body } = await get('/', { 'accept-encoding': accept });
    expect(headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' });
    expect(headers['content-length']).toBe(String(body.length));
    expect(decode(body).toString()).toBe(START);
  });

  it.each([
    ['that takes none', '/', 'identity'],
    ['where nothing is gained', '/tiny.txt', 'br, gzip'],
  ])('is sent as it is to a client %s', async (_, path, accept) => {
    const { headers } = await get(path, { 'accept-encoding': accept });
    expect(headers).not.toHaveProperty('content-encoding');
  });

  it('respond 304 to a matching ETag of each encoding', async () => {
    const [plain, packed] = await Promise.all([get('/'), get('/', { 'accept-encoding': 'br' })]);
    const { etag = '' } = plain.headers;
    expect(etag).not.toBe(packed.headers.etag);
    const again = await get('/', { 'if-none-match': etag });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    expect(again.headers).toMatchObject({ etag, 'cache-control': 'no-cache' });
    expect(again.headers).toHaveProperty('content-security-policy');
    expect((await get('/', { 'if-none-match': etag, 'accept-encoding': 'br' })).status).toBe(200);
  });

  it('respond to HEAD with the headers of GET', async () => {
    const [whole, head] = await Promise.all([get('/'), get('/', {}, 'HEAD')]);
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    for (const name of ['content-length', 'content-type', 'etag']) expect(head.headers[name]).toBe(whole.headers[name]);
  });
});

describe('missing files', () => {
  it.each([
    '/nowhere',
    '/not-found',
    '/not-found.html',
    '/index.html',
    '/assets',
    '/assets/',
    '/.built-from',
    '/../outside.txt',
    '/assets/../../outside.txt',
    '/..%2foutside.txt',
    '/%2e%2e/outside.txt',
    '/..\\outside.txt',
    '/__proto__',
    '/constructor',
    '/apifoo',
    `/${'x'.repeat(5000)}`,
  ])('%.40s responds 404 with the not-found page', async (path) => {
    const { status, headers, body } = await get(path);
    expect(status).toBe(404);
    expect(body.toString()).toBe(FILES['not-found.html']);
    expect(headers).toMatchObject({ 'content-type': HTML, 'cache-control': 'no-store' });
  });

  it.each([
    '/api',
    '/api/',
    '/API/App',
    '/api/nowhere',
    '/swagger',
    '/Swagger/v1/x',
    '//api/App',
    '/%61pi/App',
    '/api?x',
    '/%ZZ',
  ])('%s is left to the API', async (path) => expect((await get(path)).body.toString()).toBe('api'));

  it('a target that is no path is left to the API', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.write('OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toMatch(/api$/);
  });

  it.each(['POST', 'OPTIONS'])('%s is not allowed, also where nothing is', async (method) => {
    for (const path of ['/', '/nowhere']) {
      const { status, headers, body } = await get(path, {}, method);
      expect(status).toBe(405);
      expect(headers.allow).toBe('GET, HEAD');
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(JSON.parse(body.toString())).toEqual({
        type: '/problems/method-not-allowed',
        title: 'Method Not Allowed',
        status: 405,
      });
    }
  });
});

describe('during the build', () => {
  it('responds 503 with a refreshing notice, then with the page', async () => {
    const built = Promise.withResolvers<string>();
    const { page, baseUrl: own } = await serve(built.promise);
    const { status, headers, body } = await sendRequest(`${own}/`);
    expect(status).toBe(503);
    expect(headers).toMatchObject({ 'retry-after': '2', 'cache-control': 'no-store' });
    expect(body.toString()).toContain('http-equiv="refresh"');
    const [, style = ''] = /href="([^"]+\.css)"/.exec(body.toString()) ?? [];
    const { headers: type, body: rules } = await sendRequest(own + style);
    expect([type['content-type'], rules.toString()]).toEqual([
      'text/css; charset=utf-8',
      expect.stringContaining('main {'),
    ]);
    expect((await sendRequest(`${own}/api/App`)).body.toString()).toBe('api');
    built.resolve(dir);
    await page.ready;
    expect((await sendRequest(`${own}/`)).status).toBe(200);
  });

  it.each([
    [
      'a failed build',
      () => Promise.reject(new Error('Building the page failed: why')),
      /^Building the page failed: why$/,
    ],
    ['a missing folder', async () => join(folder, 'gone'), /ENOENT/],
  ])('logs %s in one line and keeps serving the API', async (_, built, line) => {
    logged.length = 0;
    const { page, baseUrl: own } = await serve(built());
    await page.ready;
    expect((await sendRequest(`${own}/`)).status).toBe(503);
    expect((await sendRequest(`${own}/api/App`)).status).toBe(200);
    expect(logged).toEqual([expect.stringMatching(line)]);
  });
});

it('keeps serving the loaded files when the folder is rebuilt', async () => {
  const own = join(folder, 'short-lived');
  await mkdir(own);
  await writeFile(join(own, 'index.html'), 'here');
  const { page, baseUrl: at } = await serve(Promise.resolve(own));
  await page.ready;
  await rm(own, { recursive: true });
  expect((await sendRequest(`${at}/`)).body.toString()).toBe('here');
  expect(await readdir(folder)).not.toContain('short-lived');
});

describe('/.well-known/security.txt', () => {
  it('has the contacts, the preferred first, and a date within a year, before the page is built too', async () => {
    const building = Promise.withResolvers<string>();
    const { page, baseUrl: at } = await serve(building.promise, {
      securityContacts: ['mailto:first@a.example', 'https://a.example/second'],
    });
    const { status, headers, body } = await sendRequest(`${at}/.well-known/security.txt`);
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    const [first, second, expires = '', ...rest] = body.toString().split('\n');
    expect([first, second, rest]).toEqual([
      'Contact: mailto:first@a.example',
      'Contact: https://a.example/second',
      [''],
    ]);
    const days = (Date.parse(expires.replace('Expires: ', '')) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(170);
    expect(days).toBeLessThan(365);
    expect((await sendRequest(`${at}/.well-known/security.txt`, { method: 'HEAD' })).body.length).toBe(0);
    building.resolve(dir);
    await page.ready;
  });

  it('is missing without a contact', async () => {
    expect((await sendRequest(`${baseUrl}/.well-known/security.txt`)).status).toBe(404);
  });
});
