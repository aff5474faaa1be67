import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPage, type Page } from '../../local/page/page.ts';
import securityHeaders from '../../web/security-headers.json' with { type: 'json' };
import { ask } from '../support/request.ts';

const START = `<!doctype html><title>start</title>${'<p>some text</p>'.repeat(100)}`;
const FILES: Readonly<Record<string, string>> = {
  'index.html': START,
  'status.html': '<title>status</title>',
  'not-found.html': '<title>nothing here</title>',
  'assets/index-abc.js': 'export const some = 1;'.repeat(50),
  'icon.svg': '<svg/>',
  'tiny.txt': 'x',
  '.built-from': 'secret',
};

let folder = '';
let dir = '';
const servers: Server[] = [];
const logged: string[] = [];
const log = { info: () => undefined, warn: () => undefined, error: (message: string) => void logged.push(message) };

/** The page on a server of its own; what is not the page's is answered `api`. */
async function serve(built: Promise<string>): Promise<{ page: Page; baseUrl: string; port: number }> {
  const page = createPage({ built, log });
  const server = createServer((request, response) => {
    if (page.owns(request)) page.handle(request, response);
    else response.end('api');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { page, port, baseUrl: `http://127.0.0.1:${port}` };
}

let baseUrl = '';
let port = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reelay-page-'));
  dir = join(folder, 'web');
  await mkdir(join(dir, 'assets'), { recursive: true });
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(dir, name), content);
  await writeFile(join(folder, 'outside.txt'), 'outside');
  const served = await serve(Promise.resolve(dir));
  await served.page.ready;
  ({ baseUrl, port } = served);
});
afterAll(async () => {
  for (const server of servers) await new Promise((resolve) => void server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(baseUrl + path, { headers, method });

describe('what is there', () => {
  it.each([
    ['/', START, 'text/html; charset=utf-8', 'no-cache'],
    ['/?url=https://a.example/', START, 'text/html; charset=utf-8', 'no-cache'],
    ['/status', FILES['status.html'], 'text/html; charset=utf-8', 'no-cache'],
    [
      '/assets/index-abc.js',
      FILES['assets/index-abc.js'],
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ],
    ['/icon.svg', '<svg/>', 'image/svg+xml; charset=utf-8', 'no-cache'],
    ['/%69con.svg', '<svg/>', 'image/svg+xml; charset=utf-8', 'no-cache'],
  ])('%s is sent with its type and its time to live', async (path, content, type, cacheControl) => {
    const { status, headers, body } = await get(path);
    expect(status).toBe(200);
    expect(body.toString()).toBe(content);
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
  ])('is sent in %s to a client that takes %s', async (coding, accept, decode) => {
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

  it('is not sent again to a client that has it, form by form', async () => {
    const [plain, packed] = await Promise.all([get('/'), get('/', { 'accept-encoding': 'br' })]);
    const { etag = '' } = plain.headers;
    expect(etag).not.toBe(packed.headers.etag);
    for (const known of [etag, `"other", W/${etag}`, '*']) {
      const again = await get('/', { 'if-none-match': known });
      expect([again.status, again.body.length]).toEqual([304, 0]);
      expect(again.headers).toMatchObject({ etag, 'cache-control': 'no-cache' });
      expect(again.headers).toHaveProperty('content-security-policy');
    }
    expect((await get('/', { 'if-none-match': etag, 'accept-encoding': 'br' })).status).toBe(200);
  });

  it('answers HEAD with the head of GET alone', async () => {
    const [whole, head] = await Promise.all([get('/'), get('/', {}, 'HEAD')]);
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    for (const name of ['content-length', 'content-type', 'etag']) expect(head.headers[name]).toBe(whole.headers[name]);
  });
});

describe('what is not there', () => {
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
  ])('%.40s is 404 with the page that says so', async (path) => {
    const { status, headers, body } = await get(path);
    expect(status).toBe(404);
    expect(body.toString()).toBe(FILES['not-found.html']);
    expect(headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
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

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s is not allowed, also where nothing is', async (method) => {
    for (const path of ['/', '/nowhere']) {
      const { status, headers, body } = await get(path, {}, method);
      expect(status).toBe(405);
      expect(headers.allow).toBe('GET, HEAD');
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
      expect(JSON.parse(body.toString())).toEqual({ title: 'Method Not Allowed', status: 405 });
    }
  });
});

describe('while it is being built', () => {
  it('says so, comes back by itself, and is there afterwards', async () => {
    const built = Promise.withResolvers<string>();
    const { page, baseUrl: own } = await serve(built.promise);
    const { status, headers, body } = await ask(`${own}/`);
    expect(status).toBe(503);
    expect(headers).toMatchObject({ 'retry-after': '2', 'cache-control': 'no-store' });
    expect(body.toString()).toContain('http-equiv="refresh"');
    expect((await ask(`${own}/api/App`)).body.toString()).toBe('api');
    built.resolve(dir);
    await page.ready;
    expect((await ask(`${own}/`)).status).toBe(200);
  });

  it('says that it never will be in one line of the log, and the API goes on', async () => {
    const { page, baseUrl: own } = await serve(Promise.reject(new Error('Building the page failed: why')));
    await page.ready;
    expect((await ask(`${own}/`)).status).toBe(503);
    expect((await ask(`${own}/api/App`)).status).toBe(200);
    expect(logged).toEqual(['Building the page failed: why']);
  });

  it('says the same of a folder that is not there', async () => {
    logged.length = 0;
    const { page } = await serve(Promise.resolve(join(folder, 'gone')));
    await page.ready;
    expect(logged).toEqual([expect.stringContaining('ENOENT')]);
  });
});

it('keeps serving what it has when the folder is built anew', async () => {
  const own = join(folder, 'short-lived');
  await mkdir(own);
  await writeFile(join(own, 'index.html'), 'here');
  const { page, baseUrl: at } = await serve(Promise.resolve(own));
  await page.ready;
  await rm(own, { recursive: true });
  expect((await ask(`${at}/`)).body.toString()).toBe('here');
  expect(await readdir(folder)).not.toContain('short-lived');
});
