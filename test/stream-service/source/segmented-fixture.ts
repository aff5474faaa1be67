import type { SegmentedSource } from '@reelay/source';
import { beforeAll } from 'vitest';
import type { Track } from '../../../core/state/resource.ts';
import { createFaultHandler } from '../../origin/faults.ts';
import {
  bytesOf,
  type Handler,
  readAll,
  resourceWith,
  sha256,
  startUpstream,
  trackAt,
  type Upstream,
} from './upstream.ts';

/** A file, a handler, or a text that is generated for each request. */
export type SiteFile = Buffer | Handler | (() => string);

/** @param size what its header says */
export function box(type: string, size: number, ...content: Buffer[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(size);
  head.write(type, 4);
  return Buffer.concat([head, ...content]);
}

/** Media in one box. */
export const boxOf = (length: number, seed: number): Buffer => box('mdat', length, bytesOf(length, seed).subarray(8));

/** With a size of 64 bits. */
export function largeBox(type: string, size: number, content: Buffer): Buffer {
  const large = Buffer.alloc(8);
  large.writeBigUInt64BE(BigInt(size));
  return box(type, 1, large, content);
}

/** Stand in front of segments of some sites. */
export const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), bytesOf(1500, 8)]);
export const ID3 = Buffer.concat([Buffer.from('ID3\u0004\0\0\0\0\0\u0014', 'latin1'), Buffer.alloc(20)]);

const SOUND = ['-f', 'lavfi', '-i', 'sine=440:r=48000:d=20'];
const BOTH = ['-f', 'lavfi', '-i', 'testsrc=s=64x48:r=10:d=20', ...SOUND, '-c:v', 'libx264', '-g', '20', '-c:a', 'aac'];
const HLS = ['-f', 'hls', '-hls_time', '4', '-hls_playlist_type', 'vod'];
/** Runs of FFmpeg for five segments, as MPEG-TS and as fragmented MP4. */
export const LISTS = [
  [...BOTH, ...HLS, '-hls_segment_filename', 'ts%d.ts', 'ts.m3u8'],
  [...BOTH, ...HLS, '-hls_segment_type', 'fmp4', '-hls_segment_filename', 'fmp4%d.ts', 'fmp4.m3u8'],
];

/** The same, and five segments of packed audio in each of three formats. */
export const SEGMENTS = [
  ...LISTS,
  ...[
    ['adts', 'aac'],
    ['mp3', 'libmp3lame'],
    ['ac3', 'ac3'],
  ].map(([format = '', codec = '']) => [
    ...[...SOUND, '-c:a', codec, '-f', 'segment', '-segment_format', format],
    ...['-segment_time', '4', `${format}%d.ts`],
  ]),
];

/** Four segments, the section before them, and a key. */
export const segments = [0, 1, 2, 3].map((index) => boxOf(400_000 + index * 1000, index + 1));
export const init = boxOf(1000, 99);
export const KEY = bytesOf(16, 5);
export const KEY_LINE = '#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x00000000000000000000000000000000';
export const whole = sha256(Buffer.concat(segments));

/** A segmented source with a separate upstream for the tests of one file. */
export function useSegmentedSite() {
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await startUpstream();
  });
  return {
    get origin() {
      return upstream.origin;
    },

    /** Serves files by path. Returns the requested paths. */
    serve(files: Readonly<Record<string, SiteFile>>): string[] {
      const asked: string[] = [];
      const routes = new Map(Object.entries(files).map(([path, file]) => [path, handlerOf(file)]));
      upstream.use((request, response) => {
        asked.push(request.url ?? '');
        const route = routes.get(request.url ?? '');
        if (route) route(request, response);
        else response.writeHead(404).end();
      });
      return asked;
    },

    /** Serves a playlist at `/index.m3u8`, computed by a function for each request, and files beside it: the segments by default. */
    serveList(list: readonly string[] | (() => string), files: Readonly<Record<string, SiteFile>> = parts(segments)) {
      return this.serve({ '/index.m3u8': typeof list === 'function' ? list : () => playlist(list), ...files });
    },

    /** Opens `/index.m3u8`, or the URL of the track. */
    async open(
      options: Parameters<Upstream['reader']>[0] = {},
      more: Partial<Track> = {},
      isLive = false,
    ): Promise<SegmentedSource> {
      const track = trackAt(`${upstream.origin}/index.m3u8`, { delivery: 'hls', ...more });
      const source = await upstream.reader(options)(resourceWith(track, { isLive }), track);
      if (source.needsRemux !== true) throw new Error('not segments');
      return source;
    },

    /** The digest of all of it, or how it breaks. */
    async read(...opening: Parameters<typeof this.open>): Promise<string> {
      return readAll((await this.open(...opening)).readAll());
    },
  };
}

function handlerOf(file: SiteFile): Handler {
  if (Buffer.isBuffer(file)) return createFaultHandler({ bytes: file });
  return (request, response) => {
    const text: unknown = file(request, response);
    if (typeof text === 'string') response.end(text);
  };
}

export const playlist = (lines: readonly string[], end = true): string =>
  ['#EXTM3U', '#EXT-X-TARGETDURATION:4', ...lines, ...(end ? ['#EXT-X-ENDLIST'] : [])].join('\n');
export const listed = (from = 0, to = 4): string[] =>
  [0, 1, 2, 3].slice(from, to).flatMap((n) => ['#EXTINF:4.0,', `${n}.ts`]);
export const parts = (files: readonly (Buffer | Handler)[], folder = ''): Record<string, Buffer | Handler> =>
  Object.fromEntries(files.map((file, index) => [`${folder}/${index}.ts`, file]));

export const same = async (resource: ReturnType<typeof resourceWith>) => resource;
