import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import type { Track } from '../../core/state/resource.ts';
import type { OpenSourceOptions } from '../../stream-service/source/open-source.ts';
import { createFaultHandler } from '../origin/faults.ts';
import { madeBy } from '../origin/media.ts';
import { type ExpectOptions, expectPackets } from '../support/expect-packets.ts';
import { packetsOf } from '../support/media-tools.ts';
import { resourceOf, type Service, type ServiceFixtureOptions, startService } from './fixture.ts';
import { encryptAes128, type Handler, startUpstream, type Upstream } from './source/upstream.ts';

/**
 * Serves the files that FFmpeg makes to the tests of one file. Each test begins with all of them as they are.
 * @param made the runs of FFmpeg for a folder, each: the files of the first one are at `/`, those of the second one at `/1/`
 */
export function useFolderSite(...made: readonly Parameters<typeof madeBy>[0][]) {
  let folders: readonly string[] = [];
  /** The folder that is at `/`. */
  let version = 0;
  let etagOf: ((version: number) => string | null) | undefined;
  let upstream: Upstream;
  let service: Service | undefined;
  /** Served in place of files, or besides them, by path. */
  const texts = new Map<string, Buffer>();
  /** How paths are served. @default as files */
  const handlers = new Map<string, Handler>();
  const requests: { readonly path: string; readonly range: string | undefined }[] = [];
  const pathOf = (path: string) => {
    const [, place, name = path] = /^(\d)\/(.*)/.exec(path) ?? [];
    return join(folders[place ? Number(place) : version] ?? '', name);
  };
  const read = (path: string): Buffer => texts.get(path) ?? readFileSync(pathOf(path));
  /** Of a list. */
  const linesOf = (name: string) => read(`${name}.m3u8`).toString().split('\n').filter(Boolean);
  const handle: Handler = (request, response) => {
    const path = (request.url ?? '').replace(/^\/|\?.*/g, '');
    requests.push({ path, range: request.headers.range });
    const handler = handlers.get(path) ?? createFaultHandler({ bytes: read(path), etag: etagOf?.(version) });
    handlers.set(path, handler);
    handler(request, response);
  };

  beforeAll(async () => {
    folders = await Promise.all(made.map(madeBy));
    upstream = await startUpstream();
    upstream.use(handle);
  });
  // The services of the test before are closed.
  beforeEach(() => {
    texts.clear();
    handlers.clear();
    requests.length = 0;
    version = 0;
    etagOf = undefined;
  });
  afterAll(() => upstream.close());

  return {
    texts,
    handlers,
    requests,
    handle,
    pathOf,
    read,
    linesOf,

    /** Serves the media of a list with AES-128 as the list `secret`. @param place the folder, as a prefix of paths */
    encryptList(name: string, place = ''): void {
      const [key, iv] = [Buffer.alloc(16, `7${place}`), Buffer.alloc(16, 9)];
      const list = linesOf(place + name).map((line) => {
        if (!line.startsWith(name)) return line;
        texts.set(`${place}secret-${line}`, encryptAes128(read(place + line), key, iv));
        return `secret-${line}`;
      });
      const first = list.findIndex((line) => line.startsWith('#EXTINF'));
      list.splice(first, 0, `#EXT-X-KEY:METHOD=AES-128,URI="key",IV=0x${iv.toString('hex')}`);
      texts.set(`${place}key`, key);
      texts.set(`${place}secret.m3u8`, Buffer.from(list.join('\n')));
    },

    /** Serves the media of some lists as one list. */
    joinLists(joined: string, first: string, ...others: readonly string[]): void {
      const isMedia = (line: string) => line !== '#EXT-X-ENDLIST';
      const added = others.flatMap((name) => {
        const lines = linesOf(name).filter((line) => /^#EXTINF|^#EXT-X-MAP|^[^#]/.test(line));
        return ['#EXT-X-DISCONTINUITY', ...lines];
      });
      const lines = [...linesOf(first).filter(isMedia), ...added, '#EXT-X-ENDLIST'];
      texts.set(`${joined}.m3u8`, Buffer.from(lines.join('\n')));
    },

    /** Serves the media of a list from the file `all`, as the list `ranges`. @param secondsOf what it tells of a segment */
    listRanges(name: string, { secondsOf = (told: string, _: number) => told, place = '' } = {}): void {
      const parts: Buffer[] = [];
      const list = linesOf(place + name).flatMap((line) => {
        const [, told = ''] = /^#EXTINF:([\d.]+)/.exec(line) ?? [];
        if (told) return [`#EXTINF:${secondsOf(told, parts.length)},`];
        if (!line.startsWith(name)) return [line];
        const part = read(place + line);
        const range = `#EXT-X-BYTERANGE:${part.length}@${Buffer.concat(parts).length}`;
        parts.push(part);
        return [range, 'all'];
      });
      texts.set(`${place}all`, Buffer.concat(parts));
      texts.set(`${place}ranges.m3u8`, Buffer.from(list.join('\n')));
    },

    /** Serves another folder at `/`. @param etag of all files. @default digests of their bytes */
    serveVersion(next: number, etag?: (version: number) => string | null): void {
      version = next;
      etagOf = etag;
      handlers.clear();
    },

    get upstream() {
      return upstream;
    },
    get folder() {
      return folders[0] ?? '';
    },
    /** Expects the packets of files, and their times. */
    expectPackets: (body: Buffer, video: string, audio = video, options: ExpectOptions = {}): Promise<void> =>
      expectPackets(body, [pathOf(video), pathOf(audio)], options),

    /** The last one that was started. */
    get service() {
      return service;
    },
    /** The paths that were requested. */
    get asked() {
      return requests.map(({ path }) => path);
    },
    listOf: (name: string): Partial<Track> => ({ delivery: 'hls', url: `${upstream.origin}/${name}.m3u8` }),

    /** Another process in place of the one before, with the tracks as those of one resource. */
    async serve(
      tracks: readonly Track[],
      traits: Parameters<typeof resourceOf>[1] = {},
      options: Partial<OpenSourceOptions> = {},
      more: ServiceFixtureOptions = {},
    ): Promise<Service> {
      await service?.close();
      const openers = upstream.openers({ refresh: async (resource) => resource, ...options });
      service = await startService(resourceOf(tracks, traits), {}, { ...openers, ...more });
      return service;
    },
  };
}

export type FolderSite = ReturnType<typeof useFolderSite>;

/** Expects both tracks to the end of twelve seconds that FFmpeg reads after a seek, and nothing else: pictures at 25 a second. */
export async function expectBothAfterSeeks(body: Buffer, soundPackets: number): Promise<void> {
  for (const seconds of ['5.3', '7.9']) {
    expect((await packetsOf(body, 'v', '-ss', seconds, '-t', '12')).length).toBeGreaterThanOrEqual(299);
    expect((await packetsOf(body, 'a', '-ss', seconds, '-t', '12')).length).toBeGreaterThanOrEqual(soundPackets);
  }
  // With the sound from before that time, and with subsegments between it and the one that is read first.
  const [, second = ''] = await packetsOf(body, 'a', '-copyts', '-ss', '13.3');
  expect(Number.parseInt(second, 10), 'milliseconds behind the first packet').toBeLessThan(100);
}
