import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { HOSTILE_LINKS, serveHostileLinks } from '../test/attacks/hostile-links.ts';
import { HOSTILE_MP4 } from '../test/attacks/hostile-mp4.ts';
import { LARGE_CAPTIONS, LARGE_PLAYLISTS, largeItems } from '../test/attacks/large-inputs.ts';
import type { OriginHandler } from '../test/origin/handler.ts';
import { ensureMedia } from '../test/origin/media.ts';
import { json, writeFileHead } from '../test/origin/respond.ts';
import { startOrigin } from '../test/origin/server.ts';
import { readTemplate } from '../test/stream-service/outputs/layout/generated-source.ts';

/** A source whose every page and file is designed to exhaust memory. */
export interface HostileOrigin {
  /** `host:port`. */
  readonly host: string;
  /** Pages that expand to far more than they are. Each call makes other links. */
  links(): readonly string[];
  /** The corpus of `test/attacks`, and items with its largest files. */
  corpus(): readonly string[];
  /** A playlist whose segments hold pictures of 8192 × 8192 pixels beside their sound. */
  pictures(): string;
  close(): Promise<void>;
}

const MIB = 1024 * 1024;

/** A DASH manifest that names `count` segments below a base of `baseLength` characters. */
const manifest = (baseLength: number, count: number) =>
  `<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT40H"><Period><BaseURL>${'b'.repeat(baseLength)}</BaseURL><AdaptationSet mimeType="audio/mp4"><Representation id="a" bandwidth="128000" codecs="mp4a.40.2"><SegmentTemplate media="$Number$.m4s" initialization="i.mp4" timescale="1"><SegmentTimeline><S t="0" d="1" r="${count - 1}"/></SegmentTimeline></SegmentTemplate></Representation></AdaptationSet></Period></MPD>`;

const playlist = (line: (index: number) => string, bytes: number) => {
  const lines = ['#EXTM3U', '#EXT-X-TARGETDURATION:1'];
  for (let index = 0, length = 0; length < bytes; index++) {
    const next = line(index);
    lines.push(next);
    length += next.length + 1;
  }
  return `${lines.join('\n')}\n#EXT-X-ENDLIST\n`;
};

type Page = readonly [type: string, body: Buffer | string, encoding?: string];

function createPages(): Readonly<Record<string, Page>> {
  const dash = 'application/dash+xml';
  const hls = 'application/vnd.apple.mpegurl';
  const zeros = gzipSync(Buffer.alloc(512 * MIB));
  return {
    'long-base.mpd': [dash, manifest(7_900, 2_000)],
    'many.mpd': [dash, manifest(100, 49_000)],
    'endless.mpd': [dash, manifest(100, 2_000_000_000)],
    'bomb.html': ['text/html', zeros, 'gzip'],
    'bomb.m3u8': [hls, zeros, 'gzip'],
    'lines.m3u8': [hls, playlist(() => '#EXT', 8 * MIB)],
    'segments.m3u8': [hls, playlist((index) => `#EXTINF:1,\n${'s'.repeat(60)}${index}.ts`, 7 * MIB)],
    'hints.m3u8': [hls, playlist((index) => `#EXT-X-PRELOAD-HINT:TYPE=PART,URI="${index}"`, 8 * MIB)],
    'page.html': ['text/html', `<html>${'<a href="'.repeat(800_000)}</html>`],
    'feed.xml': [
      'application/rss+xml',
      `<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>${Array.from({ length: 20_000 }, (_, index) => `<item><title>${'t'.repeat(200)}</title><enclosure url="/f/${index}.mp3" type="audio/mpeg"/></item>`).join('')}</channel></rss>`,
    ],
    'pictures.m3u8': [hls, playlist((index) => `#EXTINF:4.0,\nhuge.ts?${index}`, 2_000)],
  };
}

function makePictures(): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'bench-hostile-'));
  const file = join(folder, 'huge.ts');
  const sources = ['-f', 'lavfi', '-i', 'color=s=8192x8192:d=0.2:r=10', '-f', 'lavfi', '-i', 'sine=d=4'];
  const coding = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-threads', '1', '-c:a', 'aac'];
  try {
    execFileSync('ffmpeg', ['-v', 'error', ...sources, ...coding, '-f', 'mpegts', file]);
    return readFileSync(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function startHostileOrigin(): Promise<HostileOrigin> {
  const pages = createPages();
  const huge = makePictures();
  const mediaDir = await ensureMedia();
  const items = createHostileItems(mediaDir);
  let made = 0;

  const answer: OriginHandler = ({ path, response }) => {
    const name = path.split('/').at(-1) ?? '';
    if (name === 'huge.ts') return void response.writeHead(200, { 'content-type': 'video/mp2t' }).end(huge);
    const page = pages[name];
    if (!page) return void response.writeHead(404).end();
    const [type, body, encoding] = page;
    const headers = { 'content-type': type, ...(encoding && { 'content-encoding': encoding }) };
    response.writeHead(200, headers).end(body);
  };
  const { host, close } = await startOrigin({
    mediaDir,
    mounts: {
      '/expanding/': answer,
      '/hostile/': serveHostileLinks(),
      '/site-api/': items.describe,
      '/generated/': items.serve,
    },
  });
  const link = (name: string) => `http://${host}/expanding/${made++}/${name}`;
  const listed = [...HOSTILE_LINKS.map(({ name }) => `hostile/${name}`), ...items.names.map((name) => `site/${name}`)];

  return {
    host,
    links: () => Object.keys(pages).map(link),
    corpus: () => listed.map((path) => `http://${host}/${path}?${made++}`),
    pictures: () => link('pictures.m3u8'),
    close,
  };
}

/** Media data behind the header of a hostile MP4 file. */
const MEDIA_BYTES = 64 * 1024 * 1024;
const ZEROS = Buffer.alloc(MEDIA_BYTES);

/** The files of `test/attacks` that are as large as their readers accept, and the items that have them, by path. */
interface HostileItems {
  /** Names of items, for `/site/{name}`. */
  readonly names: readonly string[];
  /** Answers the test extractor. */
  readonly describe: OriginHandler;
  /** `/generated/{number}`. */
  readonly serve: OriginHandler;
}

/** @param mediaDir folder of the origin's media */
export function createHostileItems(mediaDir: string): HostileItems {
  const header = readTemplate(`${mediaDir}/ladder/h264-360.mp4`, 'vide', 90_000);
  const files: (() => Buffer)[] = [];
  /** @returns the path of the file, which is made when it is first requested */
  const add = (make: () => string | Buffer): string => {
    let made: Buffer | undefined;
    files.push(() => {
      made ??= Buffer.from(make());
      return made;
    });
    return `/generated/${files.length - 1}`;
  };
  const videos = HOSTILE_MP4.map(({ make }) => add(() => make(header)));
  const playlists = Object.values(LARGE_PLAYLISTS).map(add);
  const captions = Object.values(LARGE_CAPTIONS).map(add);

  const items: Record<string, (base: string) => object> = {};
  for (const [index, path] of videos.entries())
    items[`mp4-${index}`] = (base) => ({
      duration: 60,
      formats: [
        { format_id: 'v', url: base + path, ext: 'mp4', protocol: 'http', vcodec: 'avc1', acodec: 'none', height: 360 },
        { ...sound, url: `${base}/files/ladder/aac-128.m4a` },
      ],
    });
  for (const described of [{ vcodec: 'avc1', acodec: 'mp4a.40.2', duration: 10 }, {}])
    for (const path of playlists)
      items[`playlist-${Object.keys(items).length}`] = (base) => ({
        formats: [{ format_id: 'p', url: base + path, protocol: 'm3u8_native', ext: 'mp4', ...described }],
      });
  items.captions = (base) => ({
    formats: [{ format_id: 'f', ext: 'mp4', protocol: 'https', url: `${base}/files/clip.mp4` }],
    subtitles: Object.fromEntries(captions.map((path, index) => [`l${index}`, [{ ext: 'vtt', url: base + path }]])),
  });
  for (const name of Object.keys(largeItems('')))
    items[name.replaceAll(' ', '-')] = (base) => largeItems(base)[name]?.() ?? {};

  return {
    names: Object.keys(items),
    describe(exchange) {
      const { path, url } = exchange;
      json(exchange, { info: { id: path, title: path, ...items[path]?.(url.origin) } });
    },
    serve({ path, request, response }) {
      const head = files[Number(path)]?.();
      if (!head) return void response.writeHead(404).end();
      const isMedia = Number(path) < videos.length;
      const bytes = head.length + (isMedia ? MEDIA_BYTES : 0);
      const headers = { 'content-type': isMedia ? 'video/mp4' : 'text/plain', etag: `"${path}"` };
      const range = writeFileHead(request, response, bytes, headers);
      if (!range) return;
      const { first, last } = range;
      response.write(head.subarray(first, last + 1));
      response.end(ZEROS.subarray(Math.max(0, first - head.length), Math.max(0, last + 1 - head.length)));
    },
  };
}

const sound = { format_id: 'a', ext: 'm4a', protocol: 'http', vcodec: 'none', acodec: 'mp4a.40.2' };
