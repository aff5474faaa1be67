import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import sirv from 'sirv';
import { beforeAll, expect } from 'vitest';
import { buildPage } from '../../../local/build-page.ts';
import headers from '../../../web/security-headers.json' with { type: 'json' };
import { ensureMedia } from '../../origin/media.ts';
import { writeFileHead } from '../../origin/respond.ts';
import { DETAILS, LIST_DETAILS, PLAYLIST_COUNTS, REFUSALS, RESOURCES, SEGMENTS } from './resources.ts';
import { serve } from './serve.ts';

/**
 * Serves the built page with its headers to one test file, and canned API responses: to reach each state of the page quickly,
 * not to test the service. The last segment of a link's path selects the response. Available while tests run.
 */
export function useFakeInstance(): { readonly baseUrl: string } {
  let baseUrl: string | undefined;
  beforeAll(async () => {
    const [pageDir, mediaDir] = await Promise.all([buildPage(), ensureMedia()]);
    const files = sirv(pageDir, { dev: true, extensions: ['html'] });
    const clip = await readFile(join(mediaDir, 'clip.mp4'));
    baseUrl = await serve((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
      const link = searchParams.get('url') ?? '';
      if (pathname.startsWith('/covers/')) return sendCover(response, pathname);
      if (pathname === '/api/App') {
        response.setHeader('x-tools', 'yt-dlp="2026.11.20", sites=1251, named=("YouTube" "Vimeo" "TikTok")');
        response.setHeader('link', SAMPLES);
        return sendJson(response, 200, APP);
      }
      if (pathname === '/api/Fetch/GetDetails')
        return link.endsWith('login')
          ? sendJson(response, 502, { status: 502, title: 'Fetch Failed' })
          : sendJson(response, 200, /\/(?:feed|counted)$/.test(link) ? LIST_DETAILS : DETAILS);
      if (pathname.startsWith('/api/Stream/Subtitle/'))
        return void response.writeHead(200, { 'content-type': 'text/vtt' }).end(SUBTITLES);
      if (pathname.startsWith('/api/Stream/SkipSegments/')) return sendJson(response, 200, SEGMENTS);
      if (pathname === '/api/Fetch/GetResource') return resolve(response, request, link);
      if (pathname.startsWith('/api/Stream/')) return stream(request, response, pathname, clip);
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      files(request, response, () => void response.writeHead(404).end());
    });
  });
  return {
    get baseUrl() {
      return baseUrl ?? expect.fail('The instance is available only while tests run');
    },
  };
}

/** What pages that wait for maintenance to end are told. */
const APP = {
  version: 'v0.1.0',
  isHealthy: true,
  environment: 'Production',
  maintenance: 'Updating yt-dlp to 2026.11.20',
};

const SAMPLES = ['A video', 'Music', 'A podcast']
  .map((title) => `<https://video.example/watch/${title.at(-1)}>; rel="example"; title="${title}"`)
  .join(', ');

const sendJson = (response: ServerResponse, status: number, value: unknown) =>
  void response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));

function resolve(response: ServerResponse, request: IncomingMessage, link: string) {
  const name = link.split('/').at(-1) ?? '';
  if (name === 'never') return;
  const refusal = REFUSALS[name];
  if (refusal?.retryAfter) response.setHeader('retry-after', refusal.retryAfter);
  if (refusal) return sendJson(response, refusal.status, refusal);
  const origin = `http://${request.headers.host}`;
  const resource = RESOURCES[name];
  if (!resource) return sendJson(response, 404, { status: 404, title: 'Resource Not Found' });
  const counts = PLAYLIST_COUNTS[name];
  if (counts) response.setHeader('x-playlist', counts);
  sendJson(response, 200, JSON.parse(JSON.stringify(resource).replaceAll('"/covers/', `"${origin}/covers/`)));
}

const SUBTITLES = 'WEBVTT\n\n00:00.000 --> 00:05.000\nThe coast in winter.\n';

const ZEROS = Buffer.alloc(400_000);

/** The clip for players, zeros for downloads: of 240p more than is listed. Keys that start with `low` respond 404. */
function stream(request: IncomingMessage, response: ServerResponse, pathname: string, clip: Buffer) {
  const key = pathname.split('/').at(-1) ?? '';
  if (key.startsWith('low')) {
    sendJson(response, 404, { status: 404, title: 'Resource Not Found' });
    return;
  }
  if (key.startsWith('mux-240') && !request.headers.range)
    return void pipeline(Readable.from(Array<Buffer>(260).fill(ZEROS)), response, () => undefined);
  const isPlayed = /^(?:audio|video)$/.test(request.headers['sec-fetch-dest'] ?? '') && /^(?:whole|aac)/.test(key);
  const body = isPlayed ? clip : ZEROS;
  const range = writeFileHead(request, response, body.length, { 'content-type': 'video/mp4', etag: '"one"' });
  if (range) response.end(body.subarray(range.first, range.last + 1));
}

/** A generated landscape, its colours from the name; square for music. */
function sendCover(response: ServerResponse, pathname: string): void {
  const hue = [...pathname].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 360, 7);
  const width = pathname.includes('etude') ? 360 : 640;
  response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 360" width="${width}" height="360">
      <path fill="hsl(${(hue + 30) % 360} 48% 78%)" d="M0 0h${width}v360H0Z"/>
      <circle cx="${width * 0.7}" cy="120" r="46" fill="hsl(${(hue + 50) % 360} 80% 92%)"/>
      <path fill="hsl(${hue} 34% 50%)" d="M0 240q${width / 4} -60 ${width / 2} 0t${width / 2} 0V360H0Z"/></svg>`,
  );
}
