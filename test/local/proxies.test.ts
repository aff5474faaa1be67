import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { describe, expect, it, vi } from 'vitest';
import { createClient } from '../../clients/reelay-client/src/index.ts';
import { readSettings } from '../../core/config/settings.ts';
import { startService } from '../../local/service.ts';
import { startOrigin } from '../origin/server.ts';
import { itWith } from '../support/clients.ts';
import { closeAfterwards } from '../support/close-afterwards.ts';
import { freePort } from '../support/free-port.ts';
import { startNginx } from '../support/nginx.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createToolsFolder } from '../support/tools-folder.ts';

const root = await temporaryFolder();
const tools = await createToolsFolder(join(root, 'tools'));
const origin = closeAfterwards(await startOrigin());
const BASE = '/media/reelay';
const service = closeAfterwards(
  await startService({
    settings: readSettings({
      DATA_DIR: join(root, 'data'),
      TOOLS_DIR: tools,
      PORT: '0',
      TOOLS_CHANNEL: 'stable',
      EGRESS_ALLOW: origin.host,
      TRUSTED_PROXIES: '1',
      PROXY_ADDRESSES: '127.0.0.1',
      USER_HEADER: 'Remote-User',
      MAX_STREAMS_PER_CLIENT: '1',
      BASE_PATH: BASE,
    }),
  }),
);
await service.ready;
const upstream = new URL(service.baseUrl).host;
const CLIP = origin.url('/files/clip.mp4');
const clip = await readFile(join(origin.mediaDir, 'clip.mp4'));
const pathTo = (name: string, link = CLIP) => `/api/${name}?${new URLSearchParams({ url: link })}`;

async function startCaddy(site: string): Promise<string> {
  const host = `127.0.0.1:${await freePort()}`;
  const file = join(root, `Caddyfile-${host}`);
  await writeFile(file, `{\n\tadmin off\n}\nhttp://${host} {\n\tbind 127.0.0.1\n${site}\n}\n`);
  const env = { PATH: process.env.PATH, HOME: root, XDG_DATA_HOME: root, XDG_CONFIG_HOME: root };
  const caddy = spawn('caddy', ['run', '--config', file, '--adapter', 'caddyfile'], { env, stdio: 'ignore' });
  const ended = once(caddy, 'exit');
  closeAfterwards({
    close: async () => {
      caddy.kill('SIGKILL');
      await ended;
    },
  });
  await vi.waitFor(() => fetch(`http://${host}/`), { timeout: 60_000 });
  return host;
}

const nginxHost = async (server: string) => closeAfterwards(await startNginx(async () => ({ server }))).host;
const FORWARD = 'proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;';

describe.each<[string, string, () => Promise<string>]>([
  ['nginx', 'nginx', () => nginxHost(`${FORWARD} location ${BASE} { proxy_pass http://${upstream}; }`)],
  [
    'nginx that removes it',
    'nginx',
    () => nginxHost(`${FORWARD} location ${BASE}/ { proxy_pass http://${upstream}/; }`),
  ],
  ['Caddy', 'caddy', () => startCaddy(`\treverse_proxy ${BASE}* ${upstream}`)],
  ['Caddy that removes it', 'caddy', () => startCaddy(`\thandle_path ${BASE}/* {\n\t\treverse_proxy ${upstream}\n\t}`)],
])('a path behind %s', (_, program, start) => {
  itWith(program)('is that of every link in an answer', async () => {
    const instance = `http://${await start()}${BASE}`;
    const client = createClient({ instance });
    const located = await fetch(instance + pathTo('Get'), { redirect: 'manual' });
    expect(located.headers.get('location')).toMatch(new RegExp(`^${BASE}/api/Stream/Media/`));
    const { muxed } = await client.getPlayback(CLIP);
    const { mediaItems } = await client.resolve(CLIP);
    const rendition = mediaItems?.[0]?.video?.renditions?.[0];
    const feed = await client.getFeed(origin.url('/feeds/podcast.xml'), 'm3u8');
    const [episode = ''] = feed.match(/^http.*$/m) ?? [];
    expect(episode).toMatch(new RegExp(`^${instance}/api/Get\\?`));
    const urls = [instance + pathTo('Get'), await client.locate(CLIP), new URL(muxed[0]?.path ?? '', instance).href];
    for (const url of [...urls, client.streamUrl(rendition ?? { key: null, convertTo: null })])
      expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(clip)).toBe(true);
    expect((await fetch(episode, { headers: { range: 'bytes=0-9' } })).status).toBe(206);
    expect((await client.send(muxed[0]?.path ?? '', { method: 'HEAD' })).status).toBe(200);
    const pair = (await client.resolve(origin.url('/dash/number/manifest.mpd'))).mediaItems?.[0]?.video?.bestQualityKey;
    const combined = await client.send(`/api/Stream/Combined/${pair}`);
    await combined.body?.cancel();
    expect(combined.headers.get('content-location')).toBe(`${BASE}/api/Stream/Media/${pair}`);
    const master = `${instance}/api/Stream/Hls/${rendition?.key}/master.m3u8`;
    const [playlist = ''] = (await (await fetch(master)).text()).match(/^[^#].*$/m) ?? [];
    expect(await (await fetch(new URL(playlist, master))).text()).toContain('#EXTINF');
  });

  itWith(program)('has the page', async () => {
    const instance = `http://${await start()}${BASE}`;
    const page = await vi.waitFor(async () => {
      const response = await fetch(`${instance}/`);
      expect(response.status).toBe(200);
      return response.text();
    });
    const files = [...page.matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(4);
    for (const file of files) expect((await fetch(new URL(file, `${instance}/`))).status).toBe(200);
    const [, style = ''] = /stylesheet"[^>]*href="([^"]+)"/.exec(await (await fetch(`${instance}/a/b/c`)).text()) ?? [];
    expect((await fetch(new URL(style, instance))).headers.get('content-type')).toContain('text/css');
    expect(await (await fetch(`${instance}/problems/drm`)).text()).toContain('href="../problems.css"');
  });
});

const agent = closeAfterwards(new Agent({ pipelining: 0 }));
const elsewhere = closeAfterwards(new Agent({ localAddress: '127.0.0.2', pipelining: 0 }));
const send = (path: string, headers: Record<string, string> = {}, dispatcher = agent) =>
  request(service.baseUrl + path, { dispatcher, headers });

describe('BASE_PATH', () => {
  it('leads from the path alone to that with a slash', async () => {
    const { statusCode, headers, body } = await send(`${BASE}?url=x`);
    await body.dump();
    expect([statusCode, headers.location]).toEqual([302, `${BASE}/?url=x`]);
  });

  it('is where the description says that the paths begin', async () => {
    const { body } = await send('/swagger/v1/swagger.json');
    expect(await body.json()).toMatchObject({ servers: [{ url: BASE }] });
  });
});

describe('Home Assistant', () => {
  const INGRESS = { 'x-ingress-path': '/api/hassio_ingress/a-token' };
  const locationOf = async (headers: Record<string, string>, from = agent) => {
    const answer = await send(pathTo('Get'), headers, from);
    await answer.body.dump();
    return String(answer.headers.location).replace(/\/api\/Stream\/.*/, '');
  };

  it('names the path, for this request alone', async () => {
    expect([await locationOf(INGRESS), await locationOf({})]).toEqual([INGRESS['x-ingress-path'], BASE]);
  });

  it('shows the page in a frame', async () => {
    const policies = async (headers: Record<string, string>) => {
      const answer = await send('/', headers);
      await answer.body.dump();
      return [
        answer.headers['x-frame-options'],
        /frame-ancestors .*/.exec(String(answer.headers['content-security-policy']))?.[0],
      ];
    };
    expect(await policies(INGRESS)).toEqual(['SAMEORIGIN', "frame-ancestors 'self'"]);
    expect(await policies({})).toEqual(['DENY', "frame-ancestors 'none'"]);
  });

  it.each(['//evil.example', 'https://evil.example', '/a b', '/"><script>'])('cannot name %j', async (path) => {
    expect(await locationOf({ 'x-ingress-path': path })).toBe(BASE);
  });

  it('is not believed from an address that is no proxy', async () => {
    expect(await locationOf(INGRESS, elsewhere)).toBe(BASE);
  });
});

describe('USER_HEADER', () => {
  /** The statuses of requests while a stream of the first one is open. */
  async function whileStreaming(first: Record<string, string>, others: readonly [Record<string, string>, Agent?][]) {
    const link = origin.url('/files/long-video.mp4');
    const path = (await send(pathTo('Get', link), first)).headers.location as string;
    const stream = await send(path, first);
    const statuses = [stream.statusCode];
    for (const [headers, from] of others) {
      const { statusCode, body } = await send(path, headers, from);
      statuses.push(statusCode);
      body.on('error', () => undefined).destroy();
    }
    stream.body.on('error', () => undefined).destroy();
    return statuses;
  }

  it('counts users, from whatever address they come', async () => {
    const user = (name: string, address: string) => ({ 'remote-user': name, 'x-forwarded-for': address });
    const alice = user('alice@example.org', '192.0.2.1');
    const others = [user('alice@example.org', '192.0.2.2'), user('bob, too', '192.0.2.1')];
    expect(
      await whileStreaming(
        alice,
        others.map((headers) => [headers]),
      ),
    ).toEqual([200, 429, 200]);
  });

  it('is not believed from an address that is no proxy', async () => {
    expect(await whileStreaming({ 'remote-user': 'carol' }, [[{ 'remote-user': 'carol' }, elsewhere]])).toEqual([
      200, 200,
    ]);
    expect((await send('/api/App', { 'remote-user': 'dave' }, elsewhere)).statusCode).toBe(200);
  });
});

describe('the example for oauth2-proxy', () => {
  it('has settings that Reelay accepts, of the network that the proxy is in', async () => {
    const text = await readFile(join(import.meta.dirname, '../../docs/examples/compose.oauth2.yaml'), 'utf8');
    const inExample = (name: string) => new RegExp(`${name}: "?([^"\\s}]+)`).exec(text)?.[1];
    const names = ['TRUSTED_PROXIES', 'PROXY_ADDRESSES', 'USER_HEADER'];
    expect(readSettings(Object.fromEntries(names.map((name) => [name, inExample(name)])))).toMatchObject({
      trustedProxies: 1,
      proxyAddresses: [inExample('subnet')],
      userHeader: 'X-Forwarded-User',
    });
    // The name of Reelay leads to the first network that the two share, by the names of the networks.
    expect(text).not.toMatch(/^ +networks:/m);
  });
});
