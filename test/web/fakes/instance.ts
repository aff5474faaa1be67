import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import sirv from 'sirv';
import { afterAll, beforeAll, expect } from 'vitest';
import { buildPage } from '../../../local/build-page.ts';
import headers from '../../../web/security-headers.json' with { type: 'json' };
import { ensureMedia } from '../../origin/media.ts';
import { writeFileHead } from '../../origin/respond.ts';
import { DETAILS, PLAYLIST_COUNTS, REFUSALS, RESOURCES, SEGMENTS } from './resources.ts';

export type Health = 'healthy' | 'maintenance';

interface FakeInstance {
  /** What `/api/App` reports from now on. */
  health: Health;
  readonly baseUrl: string;
  close(): Promise<void>;
}

interface FakeInstanceOptions {
  /** The built page. */
  readonly pageDir: string;
  /** Response of every rendition whose key starts with `whole` or `aac`, to players. */
  readonly clip: Buffer;
}

/** The fake instance of one test file, available while tests run. */
export function useFakeInstance(): FakeInstance {
  let instance: FakeInstance | undefined;
  beforeAll(async () => {
    const [pageDir, mediaDir] = await Promise.all([buildPage(), ensureMedia()]);
    instance = await startFakeInstance({ pageDir, clip: await readFile(join(mediaDir, 'clip.mp4')) });
  });
  afterAll(() => instance?.close());
  const started = () => instance ?? expect.fail('The instance is available only while tests run');
  return {
    get baseUrl() {
      return started().baseUrl;
    },
    get health() {
      return started().health;
    },
    set health(health) {
      started().health = health;
    },
    close: () => started().close(),
  };
}

/**
 * Serves the built page with its headers, and canned API responses: to reach each state of the page quickly, not to
 * test the service. The last segment of a link's path selects the response.
 */
async function startFakeInstance({ pageDir, clip }: FakeInstanceOptions): Promise<FakeInstance> {
  const files = sirv(pageDir, { dev: true, extensions: ['html'] });
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname.startsWith('/covers/')) return sendCover(response, pathname);
    if (pathname === '/api/App') return sendJson(response, 200, appInfo(instance.health));
    if (pathname === '/api/App/requests') {
      response.setHeader('x-request-count', '48213');
      return sendJson(response, 200, { schemaVersion: 1, label: 'requests', message: '48,213', color: '9f54e5' });
    }
    if (pathname === '/api/Fetch/GetDetails') return sendDetails(response, searchParams.get('url') ?? '');
    if (pathname.startsWith('/api/Stream/Subtitle/'))
      return void response.writeHead(200, { 'content-type': 'text/vtt' }).end(SUBTITLES);
    if (pathname.startsWith('/api/Stream/SkipSegments/')) return sendJson(response, 200, SEGMENTS);
    if (pathname === '/api/Fetch/GetResource') return resolve(response, request, searchParams.get('url') ?? '');
    if (pathname.startsWith('/api/Stream/')) return stream(request, response, pathname, clip);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    files(request, response, () => void response.writeHead(404).end());
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const instance: FakeInstance = {
    health: 'healthy',
    baseUrl: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
  return instance;
}

const sendJson = (response: ServerResponse, status: number, value: unknown) =>
  void response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));

const appInfo = (health: Health) => ({
  version: 'v0.1.0',
  isHealthy: true,
  environment: 'Production',
  maintenance: health === 'maintenance' ? 'Updating yt-dlp to 2026.11.20' : null,
});

function resolve(response: ServerResponse, request: IncomingMessage, link: string) {
  const name = link.split('/').at(-1) ?? '';
  if (name === 'never') return;
  const refusal = REFUSALS[name];
  if (refusal) {
    const { retryAfter, ...problem } = refusal;
    if (retryAfter) response.setHeader('retry-after', retryAfter);
    return sendJson(response, refusal.status, problem);
  }
  const origin = `http://${request.headers.host}`;
  const resource = RESOURCES[name];
  if (!resource) return sendJson(response, 404, { status: 404, title: 'Resource Not Found' });
  const counts = PLAYLIST_COUNTS[name];
  if (counts) response.setHeader('x-playlist', counts);
  sendJson(response, 200, JSON.parse(JSON.stringify(resource).replaceAll('"/covers/', `"${origin}/covers/`)));
}

const sendDetails = (response: ServerResponse, link: string) =>
  /login$/.test(link)
    ? sendJson(response, 502, { status: 502, title: 'Fetch Failed' })
    : sendJson(response, 200, DETAILS);

const SUBTITLES = 'WEBVTT\n\n00:00.000 --> 00:05.000\nThe coast in winter.\n';

const ZEROS = Buffer.alloc(400_000);

/** The clip for players, zeros for downloads. Keys that start with `low` respond 404. */
function stream(request: IncomingMessage, response: ServerResponse, pathname: string, clip: Buffer) {
  const key = pathname.split('/').at(-1) ?? '';
  if (key.startsWith('low')) {
    sendJson(response, 404, { status: 404, title: 'Resource Not Found' });
    return;
  }
  const isPlayed = /^(?:audio|video)$/.test(request.headers['sec-fetch-dest'] ?? '') && /^(?:whole|aac)/.test(key);
  const body = isPlayed ? clip : ZEROS;
  const range = writeFileHead(request, response, body.length, { 'content-type': 'video/mp4', etag: '"one"' });
  if (range) response.end(body.subarray(range.first, range.last + 1));
}

/** A generated landscape, its colours from the name; square for music. */
function sendCover(response: ServerResponse, pathname: string): void {
  const hue = [...pathname].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7);
  const width = pathname.includes('etude') ? 360 : 640;
  const wave = (y: number, light: number) =>
    `<path fill="hsl(${hue} 34% ${light}%)" d="M0 ${y}q${width / 4} -60 ${width / 2} 0t${width / 2} 0V360H0Z"/>`;
  response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 360" width="${width}" height="360">
      <path fill="hsl(${(hue + 30) % 360} 48% 78%)" d="M0 0h${width}v360H0Z"/>
      <circle cx="${width * 0.7}" cy="120" r="46" fill="hsl(${(hue + 50) % 360} 80% 92%)"/>
      ${wave(190, 62)}${wave(240, 44)}${wave(295, 28)}</svg>`,
  );
}
