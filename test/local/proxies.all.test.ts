import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, vi } from 'vitest';
import { createClient } from '../../clients/reelay-client/src/index.ts';
import { startCaddy } from '../support/caddy.ts';
import { itWith } from '../support/clients.ts';
import { startNginx } from '../support/nginx.ts';
import { BASE, pathTo, startBehindProxy } from './local-service.ts';

const { service, origin } = await startBehindProxy();
const upstream = new URL(service.baseUrl).host;
const CLIP = origin.url('/files/clip.mp4');
const clip = await readFile(join(origin.mediaDir, 'clip.mp4'));

const startCaddyWith = (site: string) =>
  startCaddy((port) => `http://127.0.0.1:${port} {\n\tbind 127.0.0.1\n${site}\n}\n`);
const nginxHost = async (server: string) => (await startNginx(async () => ({ server }))).host;
const FORWARD = 'proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;';

describe.each<[string, string, () => Promise<string>]>([
  ['nginx', 'nginx', () => nginxHost(`${FORWARD} location ${BASE} { proxy_pass http://${upstream}; }`)],
  [
    'nginx that removes it',
    'nginx',
    () => nginxHost(`${FORWARD} location ${BASE}/ { proxy_pass http://${upstream}/; }`),
  ],
  ['Caddy', 'caddy', () => startCaddyWith(`\treverse_proxy ${BASE}* ${upstream}`)],
  [
    'Caddy that removes it',
    'caddy',
    () => startCaddyWith(`\thandle_path ${BASE}/* {\n\t\treverse_proxy ${upstream}\n\t}`),
  ],
])('a path behind %s', (_, program, start) => {
  itWith(program)('is that of every link in an answer', async () => {
    const instance = `http://${await start()}${BASE}`;
    const client = createClient({ instance });
    const located = await fetch(instance + pathTo('Get', CLIP), { redirect: 'manual' });
    expect(located.headers.get('location')).toMatch(new RegExp(`^${BASE}/api/Stream/Media/`));
    const { muxed } = await client.getPlayback(CLIP);
    const { mediaItems } = await client.resolve(CLIP);
    const rendition = mediaItems?.[0]?.video?.renditions?.[0];
    const feed = await client.getFeed(origin.url('/feeds/podcast.xml'), 'm3u8');
    const [episode = ''] = feed.match(/^http.*$/m) ?? [];
    expect(episode).toMatch(new RegExp(`^${instance}/api/Get\\?`));
    const urls = [
      instance + pathTo('Get', CLIP),
      await client.locate(CLIP),
      new URL(muxed[0]?.path ?? '', instance).href,
    ];
    for (const url of [...urls, client.streamUrl(rendition ?? { key: '' })])
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
