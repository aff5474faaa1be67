import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Agent, request } from 'undici';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildPage } from '../../local/build-page.ts';
import { certificate } from '../../packages/guarded-fetch/test/certificate.ts';
import { containersUnavailable } from '../images/programs.ts';
import { startCaddy } from '../support/caddy.ts';
import { itWith } from '../support/clients.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { startNginx } from '../support/nginx.ts';
import { isThere } from '../support/on-path.ts';
import { MAIN, useStarted } from '../support/started.ts';
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

async function startNginxExample(): Promise<string> {
  const text = await example('nginx.conf');
  const { host } = await startNginx(async (_, address) => ({
    http: replaced(text, {
      'listen 443 ssl http2': `listen ${address} ssl http2`,
      '127.0.0.1:8080': upstream,
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
    const first = await open(proxy, await streamOf('/files/long-video.mp4'), { 'x-forwarded-for': '192.0.2.1' });
    expect(first.statusCode).toBe(200);
    expect((await get(proxy, path, { 'x-forwarded-for': '192.0.2.2' })).status).toBe(429);
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
