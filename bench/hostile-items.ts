import { HOSTILE_MP4 } from '../test/attacks/hostile-mp4.ts';
import { LARGE_CAPTIONS, LARGE_PLAYLISTS, largeItems } from '../test/attacks/large-inputs.ts';
import type { OriginHandler } from '../test/origin/handler.ts';
import { json, writeFileHead } from '../test/origin/respond.ts';
import { readTemplate } from '../test/stream-service/outputs/layout/generated-source.ts';

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
