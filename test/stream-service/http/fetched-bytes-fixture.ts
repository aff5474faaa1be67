import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packDashSegments } from '@reelay/seekable-media/dash';
import { keyOf, subtitleId } from '../../../core/state/keys.ts';
import type { Resource, Subtitle, Track } from '../../../core/state/resource.ts';
import { createFaultHandler } from '../../origin/faults.ts';
import { ensureMedia, madeFile } from '../../origin/media.ts';
import {
  archivedList,
  combinedKey,
  mediaKey,
  renditionOf,
  resourceOf,
  startService,
  trackOf,
  until,
} from '../fixture.ts';
import { usePairMedia } from '../outputs/layout/pair-fixture.ts';
import { startUpstream } from '../source/upstream.ts';

const media = await ensureMedia();
const pairs = await usePairMedia();
const THREE_TIMES = ['-stream_loop', '2', '-i', 'long-audio.m4a', '-c', 'copy', '-map_metadata', '-1'];
const CHUNK = 'dash/number/chunk-stream0-0000';

interface SourceFile {
  readonly path: string;
  readonly traits?: Partial<Track>;
}

const video: Partial<Track> = { audio: null };
const audio: Partial<Track> = { video: null, container: 'm4a' };

/** By format id: `sound` lasts 15 minutes, `dash` 8 seconds, the others 5 minutes. */
const FILES = {
  sound: { path: await madeFile('quarter-hour.m4a', THREE_TIMES, media), traits: audio },
  both: { path: join(media, 'long.mp4') },
  video: { path: join(media, 'long-video.mp4'), traits: video },
  audio: { path: join(media, 'long-audio.m4a'), traits: audio },
  'fragmented-video': { path: pairs.pathOf('indexed.mp4'), traits: video },
  'fragmented-audio': { path: pairs.pathOf('indexed.m4a'), traits: audio },
  hls: { path: join(media, 'hls/long/index.m3u8'), traits: { delivery: 'hls' } },
  dash: { path: join(media, 'dash/number/init-stream0.m4s'), traits: { ...video, delivery: 'dash' } },
  captions: { path: join(media, 'captions.vtt'), traits: { video: null, audio: null, container: 'vtt' } },
  cover: { path: join(media, 'square.jpg') },
} satisfies Record<string, SourceFile>;
export type FormatId = keyof typeof FILES;

const CAPTIONS = Buffer.from(`WEBVTT\n\n00:00.000 --> 00:01.000\n${'x'.repeat(2000)}\n`);
const TYPES: Readonly<Record<string, string>> = { m3u8: 'application/vnd.apple.mpegurl', jpg: 'image/jpeg' };
/** At once: a request that is counted later would count for other work. */
const read = (path: string): Buffer => (path === FILES.captions.path ? CAPTIONS : readFileSync(path));

export const sizeOf = (formatId: FormatId): number => read(FILES[formatId].path).length;

const subtitle: Subtitle = {
  id: subtitleId({ language: 'en', isAutomatic: false }),
  formatId: 'captions',
  language: 'en',
  isAutomatic: false,
};
const PAIRS = [
  ['video', 'audio'],
  ['fragmented-video', 'fragmented-audio'],
] as const;
export const keys = {
  media: (formatId: FormatId) => mediaKey(formatId),
  progressive: combinedKey(...PAIRS[0]),
  fragmented: combinedKey(...PAIRS[1]),
  archive: archivedList([]).id,
  subtitle: keyOf(resourceOf([]).id, subtitle.id),
};

/** The service, and an origin that counts the bytes that it is asked for: whole ranges, also when they are not read to the end. */
export async function startCounted(durationSeconds: number) {
  const upstream = await startUpstream();
  let fetched = 0;
  let open = 0;
  upstream.use((request, response) => {
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    const { url = '', headers } = request;
    const bytes = read(url);
    const [, from = 0, to = bytes.length] = /^bytes=(\d+)-(\d+)?$/.exec(headers.range ?? '') ?? [];
    fetched += Math.min(Number(to), bytes.length - 1) - Number(from) + 1;
    createFaultHandler({ bytes, contentType: TYPES[url.split('.').at(-1) ?? ''] })(request, response);
  });

  const urlOf = (path: string) => upstream.origin + path;
  const tracks = Object.entries<SourceFile>(FILES).map(([formatId, { path, traits }]) => {
    const chunks = [1, 2, 3, 4].map((number) => ({ url: urlOf(join(media, `${CHUNK}${number}.m4s`)), seconds: 2 }));
    const fragments = traits?.delivery === 'dash' && packDashSegments([{ url: urlOf(path), seconds: 0 }, ...chunks]);
    return trackOf(formatId, { url: urlOf(path), ...traits, ...(fragments && { fragments }) });
  });
  const plain = resourceOf(tracks, { durationSeconds, coverUrl: urlOf(FILES.cover.path), subtitles: [subtitle] });
  const resource: Resource = { ...plain, renditions: [...plain.renditions, ...PAIRS.map(renditionOf)] };
  const entry = { resourceId: resource.id };
  const list = archivedList([entry, entry, entry]);
  /** Several times in a row, for requests that are on their way. */
  const settle = async () => {
    let calm = 0;
    await until(() => {
      calm = open === 0 && service.connections() === 0 ? calm + 1 : 0;
      return calm === 5;
    });
  };
  const service = await startService(
    resource,
    {},
    {
      openSource: upstream.reader(),
      peekSource: upstream.reader(),
      state: { getArchivedList: async () => list },
    },
  );

  return {
    url: `${service.url}/api/Stream`,
    /** Bytes that were fetched and sent for some work, once its connections have closed. */
    async count(work: () => Promise<unknown>) {
      const before = { fetched, sent: service.sentBytes() };
      await work();
      await settle();
      return { fetched: fetched - before.fetched, sent: service.sentBytes() - before.sent };
    },
  };
}
