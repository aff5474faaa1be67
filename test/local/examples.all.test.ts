import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, request as httpRequest } from 'node:http';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPage } from '../../local/build-page.ts';
import { certificate } from '../../packages/guarded-fetch/test/certificate.ts';
import { containersUnavailable } from '../images/programs.ts';
import { startOrigin } from '../origin/server.ts';
import { sha256 } from '../sites/stock-yt-dlp.ts';
import { startCaddy } from '../support/caddy.ts';
import { itWith } from '../support/clients.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { listen } from '../support/listen.ts';
import { startNginx } from '../support/nginx.ts';
import { isThere } from '../support/on-path.ts';
import { MAIN, useStarted } from '../support/started.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { pathTo, startLocal } from './local-service.ts';

/** The examples of docs/examples in front of the real service, with other addresses and certificates. */

const ROOT = resolve(import.meta.dirname, '../..');
const EXAMPLES = join(ROOT, 'docs/examples');
const NAME = 'reelay.example';
const example = (file: string) => readFile(join(EXAMPLES, file), 'utf8');
/** @throws Error when the text to replace is missing, so that a test never runs something else than the example */
function replaced(text: string, replacements: Readonly<Record<string, string>>): string {
  return Object.entries(replacements).reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`The example does not contain ${from}`);
    return result.replaceAll(from, to);
  }, text);
}

const { service, origin, root, toolsDir } = await startLocal({
  settings: { TRUSTED_PROXIES: '1', ALLOWED_HOSTS: NAME, MAX_STREAMS_PER_CLIENT: '1' },
});
await writeFile(join(root, 'cert.pem'), certificate.cert);
await writeFile(join(root, 'key.pem'), certificate.key);
const start = useStarted(root);
const agent = closeAfterwards(new Agent({ connect: { rejectUnauthorized: false, servername: NAME } }));

const upstream = new URL(service.baseUrl).host;

async function startNginxExample(backend = upstream): Promise<string> {
  const text = await example('nginx.conf');
  const { host } = await startNginx(async (folder, address) => ({
    http: replaced(text, {
      'listen 443 ssl http2': `listen ${address} ssl http2`,
      '127.0.0.1:8080': backend,
      '/var/cache/reelay': join(folder, 'cache'),
      '/etc/ssl/reelay.example.pem': join(root, 'cert.pem'),
      '/etc/ssl/reelay.example.key': join(root, 'key.pem'),
    }),
  }));
  return `https://${host}`;
}

async function startCaddyExample(): Promise<string> {
  const text = await example('Caddyfile');
  const tls = `bind 127.0.0.1\n\ttls ${root}/cert.pem ${root}/key.pem`;
  const host = await startCaddy((port) =>
    replaced(text, {
      'reelay.example {': `https://reelay.example:${port} {\n\t${tls}`,
      '127.0.0.1:8080': upstream,
    }),
  );
  return `https://${host}`;
}

const open = (url: string, path: string, headers: Record<string, string> = {}) =>
  request(url + path, { dispatcher: agent, headers: { host: NAME, ...headers } });
async function get(url: string, path: string, headers?: Record<string, string>) {
  const { statusCode, body } = await open(url, path, headers);
  return { status: statusCode, body: Buffer.from(await body.arrayBuffer()) };
}

describe.each([
  ['nginx', 'nginx', startNginxExample],
  ['Caddy', 'caddy', startCaddyExample],
])('the example for %s', (_, program, startProxy) => {
  const it = itWith(program);
  let proxy: string;
  let path: string;
  beforeAll(async () => {
    if (!isThere(program)) return;
    proxy = await startProxy();
    path = await streamOf('/files/clip.mp4');
  });

  it('passes the public name on, which the service requires', async () => {
    expect((await request(`${service.baseUrl}/api/App`, { headers: { host: 'other.example' } })).statusCode).toBe(421);
    expect(await get(proxy, '/api/App')).toMatchObject({ status: 200 });
  });

  it('delivers ranges of a stream', async () => {
    const file = await readFile(join(origin.mediaDir, 'clip.mp4'));
    expect(await get(proxy, path, { range: 'bytes=1000-1999' })).toEqual({
      status: 206,
      body: file.subarray(1000, 2000),
    });
  });

  it('passes on the address of the client, whatever its headers claim', async () => {
    // Its client does not read it to the end.
    const withoutRanges = (key: string) => key.replace('Media', 'Combined');
    const long = withoutRanges(await streamOf('/files/long-video.mp4'));
    const first = await open(proxy, long, { 'x-forwarded-for': '192.0.2.1' });
    expect(first.statusCode).toBe(200);
    expect((await get(proxy, withoutRanges(path), { 'x-forwarded-for': '192.0.2.2' })).status).toBe(429);
    first.body.on('error', () => undefined).destroy();
  });

  it.each<Record<string, string>>([
    { 'x-forwarded-host': 'evil.example' },
    { 'x-forwarded-host': `${NAME}:1` },
    { 'x-forwarded-host': 'localhost' },
    { 'x-forwarded-proto': 'http' },
    { 'x-forwarded-host': `evil.example, ${NAME}`, 'x-forwarded-proto': 'http, http' },
  ])('has the links of a feed name the instance, whatever a client claims: %j', async (headers) => {
    const { status, body } = await get(proxy, pathTo('Feed', origin.url('/feeds/podcast.xml')), headers);
    expect(status).toBe(200);
    const bases = [...body.toString().matchAll(/"([^"]*)\/api\/(?:Feed|Get)\?/g)].map(([, base]) => base);
    expect(new Set(bases)).toEqual(new Set([`https://${NAME}`]));
  });

  async function streamOf(file: string): Promise<string> {
    const { body } = await get(proxy, pathTo('Fetch/GetResource', origin.url(file)));
    return `/api/Stream/Media/${JSON.parse(body.toString()).mediaItems[0].video.bestQualityKey}`;
  }
});

async function summary(url: string, path: string) {
  const { status, body } = await get(url, path);
  return [status, sha256(body)];
}

/** A reverse proxy that notes what it passes on: path and range. */
async function startNoting(target: string) {
  const noted: string[] = [];
  const server = createServer((received, response) => {
    const { method, headers, url } = received;
    noted.push(`${method} ${url} ${headers.range ?? 'whole'}`);
    const sent = httpRequest(target + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => undefined);
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    received.pipe(sent);
  });
  return { host: new URL(closeAfterwards(await listen(server)).url).host, noted };
}

describe('the cache of the example for nginx', () => {
  const it = itWith('nginx');
  const LONG = origin.url('/files/long.mp4');
  const CLIP = origin.url('/files/clip.mp4');

  /** The example in front of a service of its own, which may read this origin. */
  async function start(settings: Record<string, string> = {}) {
    const own = await startLocal({
      settings: { TRUSTED_PROXIES: '1', ALLOWED_HOSTS: NAME, EGRESS_ALLOW: origin.host, ...settings },
    });
    const { host, noted } = await startNoting(own.service.baseUrl);
    const url = await startNginxExample(host);
    const headers = settings.ACCESS_KEYS ? { authorization: `Bearer ${settings.ACCESS_KEYS}` } : undefined;
    const pathOf = async (link: string) => {
      const { body } = await get(url, pathTo('Fetch/GetResource', link), headers);
      const { video, audio } = JSON.parse(body.toString()).mediaItems[0];
      noted.length = 0;
      return `/api/Stream/Media/${(video ?? audio).bestQualityKey}`;
    };
    const direct = async (path: string, more: Record<string, string> = {}) =>
      (await get(own.service.baseUrl, path, { ...headers, ...more })).body;
    return { url, noted, pathOf, direct, headers };
  }

  it('answers the second viewer of a range without a request to Reelay', async () => {
    const { url, noted, pathOf } = await start();
    const path = await pathOf(LONG);
    const bytes = await readFile(join(origin.mediaDir, 'long.mp4'));
    const slices = ['bytes=0-4194303', 'bytes=4194304-8388607'].map((range) => `GET ${path} ${range}`);
    const part = await get(url, path, { range: 'bytes=5000000-5000999' });
    expect(part).toEqual({ status: 206, body: bytes.subarray(5_000_000, 5_001_000) });
    expect(noted).toEqual([slices[1]]);
    expect(await get(url, path, { range: 'bytes=6000000-6000999' })).toMatchObject({ status: 206 });
    expect(noted).toEqual([slices[1]]);
    expect(await summary(url, path)).toEqual([200, sha256(bytes)]);
    expect(noted).toEqual([slices[1], slices[0]]);
    for (const range of ['bytes=0-', 'bytes=4194000-4195000', 'bytes=-9'])
      expect((await get(url, path, { range })).status).toBe(206);
    expect(await summary(url, path)).toEqual([200, sha256(bytes)]);
    expect(noted).toHaveLength(2);
  });

  it('has an entry for each key, selection, origin and method, and none for other paths', async () => {
    const { url, noted, pathOf, direct } = await start({
      CORS_ALLOWED_ORIGINS: 'https://a.example,https://b.example',
    });
    const video = await pathOf(CLIP);
    const sound = await pathOf(origin.url('/files/tone.m4a'));
    const paths = [video, sound, `${sound}?format=mp3`, `${sound}?format=mp3&bitrate=128`, `${video}?start=1&end=2`];
    for (const path of paths) {
      const expected = await direct(path);
      for (let viewer = 1; viewer <= 2; viewer += 1) expect(await summary(url, path)).toEqual([200, sha256(expected)]);
    }
    expect(noted.map((line) => line.split(' ')[1])).toEqual(paths);
    for (const origin of ['https://a.example', 'https://b.example', 'https://a.example']) {
      const { headers, body } = await open(url, video, { origin });
      await body.dump();
      expect(headers['access-control-allow-origin']).toBe(origin);
    }
    expect(noted).toHaveLength(paths.length + 2);
    const head = await request(url + video, { dispatcher: agent, method: 'HEAD', headers: { host: NAME } });
    expect([head.statusCode, Number(head.headers['content-length'])]).toEqual([200, (await direct(video)).length]);
    expect(noted.at(-1)).toMatch(/^HEAD /);
    noted.length = 0;
    const others = [video.replace('Media', 'Combined'), pathTo('Fetch/GetResource', 'https://x.invalid/'), '/api/App'];
    for (const path of [...others, ...others]) await get(url, path);
    expect(noted).toHaveLength(2 * others.length);
  });

  it('neither answers nor keeps what a page of another site requests', async () => {
    const { url, noted, pathOf } = await start();
    const path = await pathOf(CLIP);
    const script = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'video' };
    for (let time = 1; time <= 2; time += 1) {
      expect((await get(url, path)).status).toBe(200);
      expect((await get(url, path, script)).status).toBe(403);
    }
    expect(noted).toHaveLength(3);
  });

  it('breaks the connection where the source has changed within a file, and never mixes two versions', async () => {
    const mediaDir = await temporaryFolder();
    const changing = closeAfterwards(await startOrigin({ mediaDir }));
    const { url, pathOf } = await start({ EGRESS_ALLOW: changing.host });
    const before = await readFile(join(origin.mediaDir, 'long.mp4'));
    await writeFile(join(mediaDir, 'film.mp4'), before);
    const path = await pathOf(changing.url('/files/film.mp4'));
    const first = await get(url, path, { range: 'bytes=0-4194303' });
    expect(first.body.equals(before.subarray(0, 4_194_304))).toBe(true);
    const after = Buffer.concat([before.subarray(0, -1), Buffer.from([before.at(-1) === 1 ? 2 : 1])]);
    await writeFile(join(mediaDir, 'film.mp4'), after);
    await expect(get(url, path).then(({ status }) => status)).rejects.toThrow();
    const last = { range: `bytes=${after.length - 10}-` };
    expect(await get(url, path, last)).toEqual({ status: 206, body: after.subarray(-10) });
  });

  it('keeps what signed links of a private instance open, and nothing that a key opens', async () => {
    const key = 'first-key-0123456789';
    const { url, noted, pathOf, headers } = await start({ ACCESS_KEYS: key });
    const path = await pathOf(CLIP);
    const unsigned = path.replace(/\..*/, '');
    for (const by of [headers, { 'x-api-key': key }]) expect((await get(url, unsigned, by)).status).toBe(200);
    expect((await get(url, unsigned)).status).toBe(401);
    expect(noted).toHaveLength(3);
    for (let viewer = 1; viewer <= 2; viewer += 1) expect((await get(url, path)).status).toBe(200);
    expect(noted).toHaveLength(4);
    const forged = path.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
    expect((await get(url, forged)).status).toBe(403);
  });
});

describe('the example for nginx', () => {
  itWith('nginx').each(['/api/fetch/getresource', '/api/Get'])('limits resolves by %s', async (path) => {
    const url = await startNginxExample();
    const statuses = await Promise.all(Array.from({ length: 60 }, async () => (await get(url, path)).status));
    expect(new Set(statuses)).toEqual(new Set([400, 429]));
  });
});

describe('the example for systemd', () => {
  itWith('systemd-analyze')('is a valid unit whose program is there', async () => {
    const text = await example('reelay.service');
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(text) ?? [];
    const [, ...files] = command.split(' ');
    for (const file of files) await readFile(join(ROOT, file));
    const unit = join(root, 'reelay.service');
    await writeFile(unit, replaced(text, { '/usr/bin/node': process.execPath, '/opt/reelay': root }));
    const { stderr } = await promisify(execFile)('systemd-analyze', ['verify', unit]);
    expect(stderr).not.toContain('reelay.service');
  });

  it.skipIf(containersUnavailable)('runs in a folder that is read-only once the page is built', async () => {
    await buildPage();
    const run = 'mount --bind -o ro "$0" "$0" && cd "$0" && exec "$@"';
    const command = ['unshare', '--mount', 'sh', '-c', run, ROOT, process.execPath, MAIN] as const;
    const started = start(
      { DATA_DIR: join(root, 'unit'), TOOLS_DIR: toolsDir, NODE_COMPILE_CACHE: undefined },
      command,
    );
    const baseUrl = await started.baseUrl();
    await expect.poll(async () => (await request(baseUrl)).body.text(), { timeout: 170_000 }).toContain('<title>');
    started.process.kill('SIGTERM');
    await started.ended;
    expect(started.errors.join('\n')).not.toContain('EROFS');
  });
});
