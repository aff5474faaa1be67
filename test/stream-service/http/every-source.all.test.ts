import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { packDashSegments } from '@reelay/seekable-media/dash';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { archiveKey } from '../../../core/state/keys.ts';
import type { ArchivedList, Rendition, Track } from '../../../core/state/resource.ts';
import { toPlayback } from '../../../lambdas/api/get-playback.ts';
import { createFaultHandler } from '../../origin/faults.ts';
import { fragmentedHls, madeBy } from '../../origin/media.ts';
import { inspect, probe, probeBody, withTemporaryFolder } from '../../support/media-tools.ts';
import { type ReceivedResponse, sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { answerSegments, segmentOf, startSegmentsService, VIDEO_ID } from '../../support/segments-service.ts';
import {
  audioTrack,
  combinedKey,
  mediaKey,
  renditionOf,
  resourceOf,
  startService,
  trackOf,
  videoTrack,
} from '../fixture.ts';
import { decode, type Frame } from '../outputs/layout/clip-fixture.ts';
import { startUpstream } from '../source/upstream.ts';

const SECONDS = 20;
const FRAME_SECONDS = 0.04;
const PICTURE = ['-f', 'lavfi', '-i', `testsrc2=s=160x90:r=25:d=${SECONDS}`];
const tone = (hertz: number) => ['-f', 'lavfi', '-i', `sine=${hertz}:r=48000:d=${SECONDS}`];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '50', '-bf', '2'];
const VP9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-cpu-used', '8', '-b:v', '200k', '-g', '50'];
const AAC = ['-c:a', 'aac'];
const OPUS = ['-c:a', 'libopus', '-b:a', '64k'];
const VOD = ['-hls_playlist_type', 'vod'];
const transport = (name: string): readonly string[] => [
  ...['-f', 'hls', '-hls_time', '4', '-hls_list_size', '0', ...VOD],
  ...['-hls_segment_filename', `${name}%d.ts`, `${name}.m3u8`],
];
const CUES = 'WEBVTT\n\n00:01.000 --> 00:03.000\nHello\n';
const CHAPTERS = [
  { title: 'First', startSeconds: 0 },
  { title: 'Second', startSeconds: 8 },
];
const ARCHIVE = archiveKey('https://site.example/list');

let folder: string;
beforeAll(async () => {
  folder = await madeBy([
    [...PICTURE, ...tone(400), ...H264, ...AAC, ...transport('ts')],
    [...tone(900), ...AAC, ...transport('ts-de')],
    [...PICTURE, ...tone(400), ...H264, ...AAC, ...VOD, ...fragmentedHls('mp4', 4)],
    [...tone(900), ...AAC, ...VOD, ...fragmentedHls('mp4-de', 4)],
    [
      ...[...PICTURE, ...tone(400), ...tone(900), '-map', '0', '-map', '1', '-map', '2', ...H264, ...AAC],
      ...['-f', 'dash', '-seg_duration', '4', '-init_seg_name', 'dash$RepresentationID$.mp4'],
      ...['-media_seg_name', 'dash$RepresentationID$-$Number$.m4s', 'dash.mpd'],
    ],
    [...PICTURE, ...VP9, '-cues_to_front', '1', 'video.webm'],
    [...tone(400), ...OPUS, '-cues_to_front', '1', 'audio.webm'],
    [...tone(900), ...OPUS, '-cues_to_front', '1', 'german.webm'],
  ]);
});

const made = (path: string) => join(folder, path);

interface Kind {
  /** The video, with its sound or beside it. */
  readonly video: Partial<Track>;
  readonly sound?: Partial<Track>;
  readonly german: Partial<Track>;
  /** What FFmpeg reads the same media of. */
  readonly source: string;
  readonly codecs: readonly string[];
  readonly copiedAs: 'm4a' | 'opus';
  /** What the copy of the sound has a length of. */
  readonly isCopySized?: boolean;
}

const opus = { audio: { codec: 'opus' }, container: 'webm' };
const list = (name: string): Partial<Track> => ({ delivery: 'hls', url: `${name}.m3u8` });
const dash = (side: number): Partial<Track> => {
  const count = readdirSync(folder).filter((name) => name.startsWith(`dash${side}-`)).length;
  const urls = Array.from({ length: count }, (_, index) => ({ url: `dash${side}-${index + 1}.m4s`, seconds: 4 }));
  return {
    delivery: 'dash',
    fragments: packDashSegments([{ url: `dash${side}.mp4`, seconds: 0 }, ...urls]),
    url: 'dash.mpd',
  };
};
const KINDS: Readonly<Record<string, () => Kind>> = {
  'a list of MPEG-TS': () => ({
    video: list('ts'),
    german: list('ts-de'),
    source: 'ts.m3u8',
    codecs: ['h264', 'aac'],
    copiedAs: 'm4a',
  }),
  'a list of fragmented MP4': () => ({
    video: list('mp4'),
    german: list('mp4-de'),
    source: 'mp4.m3u8',
    codecs: ['h264', 'aac'],
    copiedAs: 'm4a',
    isCopySized: true,
  }),
  'lists of DASH': () => ({
    video: dash(0),
    sound: dash(1),
    german: dash(2),
    source: 'dash.mpd',
    codecs: ['h264', 'aac'],
    copiedAs: 'm4a',
    isCopySized: true,
  }),
  'a pair of WebM': () => ({
    video: { url: 'video.webm', container: 'webm', video: { codec: 'vp9' } },
    sound: { url: 'audio.webm', ...opus },
    german: { url: 'german.webm', ...opus },
    source: 'video.webm',
    codecs: ['vp9', 'opus'],
    copiedAs: 'opus',
  }),
};

async function serve({ video, sound, german }: Kind) {
  const upstream = await startUpstream();
  onTestFinished(upstream.close);
  upstream.use((request, response) => {
    const path = (request.url ?? '').slice(1);
    createFaultHandler({ bytes: path === 'text.vtt' ? Buffer.from(CUES) : readFileSync(made(path)) })(
      request,
      response,
    );
  });
  const at = ({ url, ...traits }: Partial<Track>): Partial<Track> => ({
    ...traits,
    url: `${upstream.origin}/${url}`,
    fragmentBaseUrl: `${upstream.origin}/`,
  });
  const own = { language: 'en' };
  const tracks = [
    sound ? videoTrack(at(video)) : trackOf('video', { ...at(video), ...own }),
    ...(sound ? [audioTrack({ ...at(sound), ...own })] : []),
    audioTrack({ ...at(german), formatId: 'german', language: 'de' }),
    trackOf('text', { ...at({ url: 'text.vtt' }), container: 'vtt', video: null, audio: null }),
  ];
  const formatIds: Rendition['formatIds'] = sound ? ['video', 'audio'] : ['video'];
  const audible = (formatId: string, language: string): Rendition => ({
    ...renditionOf([formatId]),
    id: formatId.padEnd(11, '_'),
    side: 'audio',
    fileExtension: '.m4a',
    mimeType: 'audio/mp4',
    language,
  });
  const resource = resourceOf(tracks, {
    origin: { url: 'https://site.example/watch', extractor: 'Youtube', entryId: VIDEO_ID },
    durationSeconds: SECONDS,
    details: { chapters: CHAPTERS },
    subtitles: [{ id: 'text', formatId: 'text', language: 'en', isAutomatic: false }],
    renditions: [renditionOf(formatIds), ...(sound ? [audible('audio', 'en')] : []), audible('german', 'de')],
  });
  const segments = await startSegmentsService(answerSegments(segmentOf(5.3, 9.62)));
  const openers = upstream.openers({ refresh: async () => resource });
  const { openSource } = openers;
  const archived: ArchivedList = {
    id: ARCHIVE,
    url: 'https://site.example/list',
    title: 'A list',
    author: null,
    expiresAt: 2e9,
    entries: [
      { url: 'https://site.example/0', title: 'A clip', author: null, coverUrl: null, resourceId: resource.id },
    ],
  };
  const service = await startService(
    resource,
    Object.fromEntries(tracks.map(({ formatId }) => [formatId, openSource])),
    {
      ...openers,
      ...segments.options,
      state: { getArchivedList: async () => archived },
    },
  );
  const key = sound ? combinedKey() : mediaKey('video');
  return { resource, service, urlOf: (rest: string) => `${service.url}/api/Stream/${rest.replace('KEY', key)}` };
}

const save = async <T>({ body }: ReceivedResponse, use: (file: string) => Promise<T>, extension = '.mp4'): Promise<T> =>
  withTemporaryFolder(async (place) => {
    const file = join(place, `body${extension}`);
    await writeFile(file, body);
    return use(file);
  });

const shownAt = (frames: readonly Frame[], seconds: number) =>
  frames.findLast((frame) => frame.seconds <= seconds)?.digest;

async function chaptersOf(file: string): Promise<readonly (readonly [string, number])[]> {
  const { stdout } = await promisify(execFile)('ffprobe', ['-v', 'error', '-of', 'json', '-show_chapters', file]);
  const { chapters } = JSON.parse(stdout) as { chapters: { start_time: string; tags: { title: string } }[] };
  return chapters.map(({ tags, start_time: at }) => [tags.title, Math.round(Number(at) * 10) / 10] as const);
}

/** The strongest of the two tones. */
async function heard(file: string): Promise<'en' | 'de'> {
  const args = ['-v', 'error', '-i', file, '-map', '0:a:0', '-ac', '1', '-ar', '8000', '-f', 's16le', '-'];
  const { stdout } = await promisify(execFile)('ffmpeg', args, { encoding: 'buffer', maxBuffer: 2 ** 26 });
  const samples = new Int16Array(stdout.buffer, stdout.byteOffset, stdout.length >> 1).subarray(8000, 16_000);
  const crossings = samples.filter((sample, index) => sample >= 0 !== (samples[index - 1] ?? 0) >= 0).length;
  return crossings > 1300 ? 'de' : 'en';
}

describe.each(Object.entries(KINDS))('%s', (_, create) => {
  it('has clips, skipped parts and chapters that begin with the very frame', async () => {
    const kind = create();
    const { urlOf } = await serve(kind);
    const whole = await save(await expectSeekable(urlOf('Media/KEY')), (file) => decode([file]));
    expect(whole.complaints).toBe('');
    for (const [query, seconds, times] of [
      ['start=5.4&end=9', 3.6, { 0.02: 5.42, 2: 7.4 }],
      ['skip=sponsor', SECONDS - 4.32, { 5: 5, 5.5: 9.82, 12: 16.32 }],
      ['chapter=2', 12, { 0.02: 8.02, 3.5: 11.5 }],
    ] as const) {
      const sent = await expectSeekable(urlOf(`Media/KEY?${query}`), {
        cache: query.startsWith('skip') ? 'private' : 'public',
      });
      const { frames, samples, complaints } = await save(sent, (file) => decode([file]));
      expect([query, complaints]).toEqual([query, '']);
      expect(Math.abs(samples.length / 48_000 - seconds), query).toBeLessThan(0.15);
      for (const [at, time] of Object.entries(times)) {
        const near = [-FRAME_SECONDS, 0, FRAME_SECONDS].map((moved) => shownAt(whole.frames, time + moved));
        expect(near, `${query}: ${at} s`).toContain(shownAt(frames, Number(at)));
      }
    }
  });

  it('has chapters, marks, subtitles and tags', async () => {
    const { urlOf } = await serve(create());
    const sent = await expectSeekable(urlOf('Media/KEY?tags=true&subtitles=en'));
    const { complaints, tags, streams } = await inspect(sent.body, '.mp4');
    expect({ complaints, title: tags.title }).toEqual({ complaints: '', title: 'A clip' });
    expect(streams.map(({ codec }) => codec)).toContain('mov_text');
    expect(await save(sent, chaptersOf)).toEqual(CHAPTERS.map(({ title, startSeconds }) => [title, startSeconds]));
    const marked = await expectSeekable(urlOf('Media/KEY?mark=sponsor'), { cache: 'private' });
    expect((await save(marked, chaptersOf)).map(([, at]) => at)).toEqual([0, 5.3, 9.6]);
  });

  it('has the sound of another language', async () => {
    const { codecs, ...kind } = create();
    const { urlOf } = await serve({ ...kind, codecs });
    const sent = await expectSeekable(urlOf('Media/KEY?audio=de'));
    expect((await probeBody(sent.body, '.mp4')).codecs).toEqual(codecs);
    expect(await save(sent, heard)).toBe('de');
    expect(await save(await sendRequest(urlOf('Media/KEY')), heard)).toBe('en');
  });

  it('has its sound alone, copied and encoded', async () => {
    const { copiedAs, isCopySized, ...kind } = create();
    const { urlOf } = await serve({ ...kind, copiedAs });
    const url = urlOf(`Media/KEY?format=${copiedAs}`);
    const copied = isCopySized ? await expectSeekable(url) : await sendRequest(url);
    const { codecs, durationSeconds, complaints } = await inspect(copied.body, `.${copiedAs}`);
    expect([codecs, Math.round(durationSeconds), complaints]).toEqual([
      [copiedAs === 'm4a' ? 'aac' : 'opus'],
      SECONDS,
      '',
    ]);
    const part = await expectSeekable(`${url}&start=5&end=9`);
    expect(Math.round((await probeBody(part.body, `.${copiedAs}`)).durationSeconds)).toBe(4);
    for (const [query, seconds] of [
      ['format=mp3', SECONDS],
      ['format=mp3&start=5&end=9', 4],
    ] as const) {
      const encoded = await expectSeekable(urlOf(`Media/KEY?${query}`));
      expect(Math.round((await probeBody(encoded.body, '.mp3')).durationSeconds)).toBe(seconds);
    }
  });

  it('starts at a keyframe, and is a presentation that FFmpeg plays', async () => {
    const { urlOf } = await serve(create());
    const started = await sendRequest(urlOf('Combined/KEY?start=9'));
    const start = Number(started.headers['x-argon-start']);
    expect([started.status, start]).toEqual([200, expect.closeTo(8, 0)]);
    expect((await probeBody(started.body, '.mp4')).durationSeconds).toBeCloseTo(SECONDS - start, 0);
    const { streams, durationSeconds } = await probe(urlOf('Hls/KEY/master.m3u8'));
    expect(new Set(streams.map(({ type }) => type))).toEqual(new Set(['video', 'audio']));
    expect(Math.round(durationSeconds)).toBe(SECONDS);
  });

  it('has an exact length in archives, and is played in one piece once that is known', async () => {
    const { resource, service, urlOf } = await serve(create());
    const [rendition] = resource.renditions;
    const { headers } = await sendRequest(urlOf('Media/KEY'), { method: 'HEAD' });
    const bytes = service.sizes.get(rendition?.id ?? '');
    expect(headers['content-length']).toBe(String(bytes));
    const known = { ...resource, exactSizes: { [rendition?.id ?? '']: bytes ?? 0 } };
    expect(toPlayback(known, '').muxed).toMatchObject([{ fileSizeBytes: bytes }]);
    const archive = await expectSeekable(`${service.url}/api/Stream/Archive/${ARCHIVE}`, { cache: 'no-store' });
    expect(archive.body.length).toBeGreaterThan(bytes ?? 0);
  });
});
