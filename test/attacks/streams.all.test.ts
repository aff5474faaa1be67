import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { openOwnService } from '../contract/target.ts';
import type { OriginHandler } from '../origin/handler.ts';
import { expectShortTurns } from '../support/event-loop-turns.ts';
import { descendants } from '../support/processes.ts';
import { sendRequest, statusOrBroken } from '../support/request.ts';

/** What the playlists answer: harmless while a link is resolved, hostile when it is streamed. */
let answerPlaylist: OriginHandler;
/** Paths that reached a host which must not be requested. */
const inner: string[] = [];

const answerText =
  (body: string): OriginHandler =>
  ({ response }) =>
    void response.writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' }).end(body);
/** Below `/hls/ts/`. */
const harmless: OriginHandler = async ({ response, mediaDir }) => {
  const playlist = await readFile(join(mediaDir, 'hls/ts/index.m3u8'), 'utf8');
  response
    .writeHead(200, { 'content-type': 'application/vnd.apple.mpegurl' })
    .end(playlist.replace(/^([\w-]+\.ts)/gm, '/hls/ts/$1'));
};

const { origin, service } = await openOwnService({
  mounts: {
    '/swapped/': (exchange) => answerPlaylist(exchange),
    '/named/': ({ url, response }) => {
      const data = {
        '@type': 'VideoObject',
        name: url.searchParams.get('title'),
        contentUrl: new URL('/files/clip.mp4', url),
        thumbnailUrl: url.searchParams.get('cover') ?? undefined,
      };
      const script = `<script type="application/ld+json">${JSON.stringify({ '@context': 'https://schema.org', ...data })}</script>`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(`<html><head>${script}</head></html>`);
    },
    '/inner/': ({ path, response }) => {
      inner.push(path);
      response.writeHead(404).end();
    },
  },
});

const resolve = (link: string) =>
  sendRequest(`${service.baseUrl}/api/Fetch/GetResource?url=${encodeURIComponent(link)}`);
let links = 0;
/** Resolves a harmless playlist; gives the address of its stream. */
async function harmlessStream(): Promise<string> {
  answerPlaylist = harmless;
  const { status, body } = await resolve(origin.url(`/swapped/${links++}.m3u8`));
  expect(status, body.toString()).toBe(200);
  const { bestQualityKey, urlType } = JSON.parse(body.toString()).mediaItems[0].video;
  return `${service.baseUrl}/api/Stream/${urlType}/${bestQualityKey}`;
}

const playlist = (lines: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:4\n${lines}\n#EXT-X-ENDLIST\n`;
const chunks = (body: string) => Buffer.from([...body].map((byte) => `1\r\n${byte}\r\n`).join(''));

// What the text of a playlist may be: test/stream-service/source/hls-faults.all.test.ts, and large-inputs.ts.
const SWAPPED: readonly (readonly [name: string, handler: OriginHandler])[] = [
  ['segments on this machine', answerText(playlist('#EXTINF:4,\nhttp://127.0.0.1:1/inner/a.ts'))],
  [
    'half a million chunks of one byte',
    ({ request: { socket } }) => {
      socket.write(
        'HTTP/1.1 200 OK\r\nContent-Type: application/vnd.apple.mpegurl\r\nTransfer-Encoding: chunked\r\n\r\n',
      );
      socket.end(
        Buffer.concat([
          chunks(`#EXTM3U\n${'#'.repeat(1000)}`),
          Buffer.alloc(6 * 500_000, '1\r\n#\r\n'),
          chunks('\n#EXT-X-ENDLIST\n'),
          Buffer.from('0\r\n\r\n'),
        ]),
      );
    },
  ],
  [
    '1 MB of header',
    ({ response }) => void response.writeHead(200, { 'x-large': 'x'.repeat(1_000_000) }).end(playlist('')),
  ],
];

describe('a playlist that was harmless when it was resolved', () => {
  it.each(SWAPPED)('is a 404, a 502 or a broken stream with %s', async (_, handler) => {
    const stream = await harmlessStream();
    answerPlaylist = handler;
    const outcome = await expectShortTurns(() => statusOrBroken(sendRequest(stream)));
    expect([404, 502, 'broken']).toContain(outcome);
    expect(inner).toEqual([]);
  });
});

describe('covers that sources choose', () => {
  it.each([
    ['another name of this machine', () => origin.url('/inner/cover.jpg').replace('127.0.0.1', 'localhost')],
    ['a link-local address', () => 'http://169.254.169.254/inner/cover.jpg'],
    ['the page itself', () => origin.url('/named/?title=a')],
  ])('at %s are left out of tags', async (_, coverOf) => {
    const cover = coverOf();
    const { body } = await resolve(origin.url(`/named/?${new URLSearchParams({ title: 'a', cover })}`));
    const { coverUrl, video } = JSON.parse(body.toString()).mediaItems[0];
    expect(coverUrl).toBe(cover);
    const stream = `${service.baseUrl}/api/Stream/Media/${video.bestQualityKey}?format=mp3&tags=true`;
    const { status, body: mp3 } = await sendRequest(stream, { headers: { range: 'bytes=0-99999' } });
    expect([status, mp3.toString('latin1', 0, 3)]).toEqual([206, 'ID3']);
    expect(mp3.includes('APIC', 0, 'latin1')).toBe(false);
    expect(inner).toEqual([]);
  });
});

describe('raw requests', () => {
  const send = async (lines: readonly string[], body = '') => {
    const { hostname: host, port: at } = new URL(service.baseUrl);
    const socket = connect(Number(at), host);
    socket.on('error', () => undefined);
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
    return (await text(socket)).split(' ')[1];
  };
  // Hosts and the absolute form: test/local/request-authority.test.ts.
  it.each([
    ['CONNECT', ['CONNECT x.example:443 HTTP/1.1', 'Host: x.example:443', 'Connection: close'], undefined],
    [
      '100 KB of header',
      ['GET /api/App HTTP/1.1', 'Host: localhost', `X: ${'x'.repeat(100_000)}`, 'Connection: close'],
      '431',
    ],
    [
      'both lengths',
      ['POST /api/App HTTP/1.1', 'Host: localhost', 'Content-Length: 5', 'Transfer-Encoding: chunked'],
      '400',
    ],
    ['a NUL in the path', ['GET /api/App\0 HTTP/1.1', 'Host: localhost', 'Connection: close'], '400'],
  ] as const)('with %s', async (_, lines, status) => {
    expect(await send(lines)).toBe(status);
  });
});

describe('after all of them', () => {
  it('no FFmpeg and no connection remains', async () => {
    await expect.poll(() => descendants('ffmpeg')).toEqual([]);
    await expect.poll(() => origin.connections).toBe(0);
    const stream = await harmlessStream();
    expect((await sendRequest(stream)).status).toBe(200);
  });
});
