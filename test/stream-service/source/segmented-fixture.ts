import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { SegmentedSource } from '@reelay/source';
import { beforeAll } from 'vitest';
import { toStreamProblem } from '../../../core/api/problem.ts';
import type { Track } from '../../../core/state/resource.ts';
import { createFaultHandler, type FaultHandler } from '../../origin/faults.ts';
import { bytesOf, resourceWith, sha256, startUpstream, trackAt, type Upstream } from './upstream.ts';

/** A file, a handler, or a text that is generated for each request. */
export type SiteFile = Buffer | FaultHandler | (() => string);

/** Media in one box. */
export function boxOf(length: number, seed: number): Buffer {
  const bytes = bytesOf(length, seed);
  bytes.writeUInt32BE(length);
  bytes.write('mdat', 4);
  return bytes;
}

/** Four segments, the section before them, and a key. */
export const segments = [0, 1, 2, 3].map((index) => boxOf(400_000 + index * 1000, index + 1));
export const init = boxOf(1000, 99);
export const KEY = bytesOf(16, 5);
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
  };
}

function handlerOf(file: SiteFile): (...args: Parameters<FaultHandler>) => void {
  if (Buffer.isBuffer(file)) return createFaultHandler({ bytes: file });
  return 'seen' in file ? file : (_request, response) => void response.end(file());
}

export const playlist = (lines: readonly string[], end = true): string =>
  ['#EXTM3U', '#EXT-X-TARGETDURATION:4', ...lines, ...(end ? ['#EXT-X-ENDLIST'] : [])].join('\n');
export const listed = (from = 0, to = 4): string[] =>
  [0, 1, 2, 3].slice(from, to).flatMap((n) => ['#EXTINF:4.0,', `${n}.ts`]);
export const parts = (files: readonly (Buffer | FaultHandler)[]): Record<string, Buffer | FaultHandler> =>
  Object.fromEntries(files.map((file, index) => [`/${index}.ts`, file]));

/** The digest of a stream, or how it failed. */
export const readAll = async (stream: Readable): Promise<string> =>
  buffer(stream).then(sha256, (error: unknown) => `broken ${toStreamProblem(error).details.status}`);
export const statusOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => 'opened',
    (error: unknown) => toStreamProblem(error).details.status,
  );
export const same = async (resource: ReturnType<typeof resourceWith>) => resource;
