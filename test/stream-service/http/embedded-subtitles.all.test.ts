import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Rendition, Resource, Subtitle, Track } from '../../../core/state/resource.ts';
import { itInChromium } from '../../support/chromium.ts';
import { inspect, runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { answerSegments, segmentOf, startSegmentsService, VIDEO_ID } from '../../support/segments-service.ts';
import {
  combinedKey,
  expectUnsized,
  mediaKey,
  refusalOf,
  renditionOf,
  type ServiceFixtureOptions,
  trackOf,
} from '../fixture.ts';
import { useFolderSite } from '../folder-site.ts';
import { copyOf, file, recipesOf, SECONDS } from '../matrix/sources.ts';
import { ffmpeg as encode } from '../outputs/encode/mp3/coded-sound.ts';
import { playUrl } from '../outputs/layout/player.ts';
import type { Handler } from '../source/upstream.ts';

const CUES = `WEBVTT

00:01.000 --> 00:03.500
Hello <b>there</b> & <script>alert(1)</script>

00:03.000 --> 00:04.000
Überlappung 😀

00:12.000 --> 00:13.000
Second part

00:19.500 --> 00:59.000
Beyond the end
`;
/** As players show them: the overlap has both lines, and the end is that of the media. */
const SHOWN = [
  ['00:00:01,000 --> 00:00:03,000', 'Hello there & alert(1)'],
  ['00:00:03,000 --> 00:00:03,500', 'Hello there & alert(1)\nÜberlappung 😀'],
  ['00:00:03,500 --> 00:00:04,000', 'Überlappung 😀'],
  ['00:00:12,000 --> 00:00:13,000', 'Second part'],
  ['00:00:19,500 --> 00:00:20,000', 'Beyond the end'],
];
/** @param ms a pattern of how much longer the presentation is: priming of audio, and pictures that are shown later */
const shownTo = (ms: string) =>
  SHOWN.with(-1, [expect.stringMatching(`^00:00:19,500 --> 00:00:20,${ms}$`), 'Beyond the end']);

/** Each cue is shown until the end: joined, eight at once, they have 6 MB. */
const overlapping = () =>
  Array.from({ length: 400 }, (_, index) => {
    const start = (index / 200).toFixed(3).padStart(6, '0');
    return `00:${start} --> 00:19.000\n${'a'.repeat(1900)}\n`;
  }).join('\n');

const FRAGMENTS = 'frag_keyframe+empty_moov+default_base_moof';
/** More fragments than are read without an index. */
const UNINDEXED = ['-movflags', `${FRAGMENTS}+skip_trailer`, '-frag_duration', '400000'];
const INDEXED = ['-movflags', `${FRAGMENTS}+global_sidx`, '-frag_duration', '2000000'];
const site = useFolderSite([
  ...recipesOf(400, 'aac'),
  copyOf('both.mp4', 'both.mkv'),
  copyOf('video.webm', '-live', '1', 'live-video.webm'),
  ...['both', 'video', 'audio'].flatMap((name) => [
    copyOf(`${name}.mp4`, ...UNINDEXED, `unindexed-${name}.mp4`),
    copyOf(`${name}.mp4`, ...INDEXED, `fragmented-${name}.mp4`),
  ]),
]);

type Formats = Rendition['formatIds'];
const PAIR: Formats = ['video.mp4', 'audio.mp4'];
const FRAGMENTED_PAIR: Formats = ['fragmented-video.mp4', 'fragmented-audio.mp4'];
const UNINDEXED_PAIR: Formats = ['unindexed-video.mp4', 'unindexed-audio.mp4'];
const WEBM_PAIR: Formats = ['live-video.webm', 'audio.mp4'];
/** Its video has sound, too. */
const PAIR_OF_FILE: Formats = ['both.mp4', 'audio.mp4'];
const FILES = ['both.mp4', 'fragmented-both.mp4', 'unindexed-both.mp4', 'both.mkv'];
const RENDITIONS: readonly Formats[] = [
  ...FILES.map((name): Formats => [name]),
  ...[PAIR, FRAGMENTED_PAIR, UNINDEXED_PAIR, WEBM_PAIR, PAIR_OF_FILE],
];

/** The URLs of another process, with subtitles in German, made by people and automatic, and in Portuguese. */
async function start(traits: Partial<Resource> = {}, more: ServiceFixtureOptions = {}) {
  const trackAt = (name: string, sides: Partial<Track>) =>
    trackOf(name, { ...file(`${site.upstream.origin}/${name}`), ...sides });
  const tracks = [...new Set(RENDITIONS.flat())].map((name) => {
    if (name.includes('audio')) return trackAt(name, { video: null });
    const video = name.endsWith('webm') ? { codec: 'vp9' } : { codec: 'avc1.42c01f' };
    return trackAt(name, name.includes('video') ? { video, audio: null } : { video });
  });
  const subtitles = ['automatic', 'german', 'portuguese'].map(
    (name): Subtitle => ({
      id: name,
      formatId: `${name}.vtt`,
      language: name === 'portuguese' ? 'pt-BR' : 'de',
      isAutomatic: name === 'automatic',
    }),
  );
  const texts = subtitles.map(({ formatId }) => trackAt(formatId, { video: null, audio: null }));
  const renditions = RENDITIONS.map((formats) => renditionOf(formats));
  const resource = { durationSeconds: SECONDS, subtitles, renditions, ...traits };
  const { url } = await site.serve([...tracks, ...texts], resource, {}, more);
  return (formats: Formats, query = 'subtitles=de', endpoint = 'Media') => {
    const [video, audio] = formats;
    return `${url}/api/Stream/${endpoint}/${audio ? combinedKey(video, audio) : mediaKey(video)}?${query}`;
  };
}

beforeEach(() => {
  site.texts.set('automatic.vtt', Buffer.from(CUES.replace('Second', 'Guessed')));
  for (const name of ['german', 'portuguese']) site.texts.set(`${name}.vtt`, Buffer.from(CUES));
});

/** The cues of the text track as FFmpeg shows them. */
const shownIn = (body: Buffer) =>
  withTemporaryFolder(async (folder) => {
    const embedded = join(folder, 'embedded.mp4');
    await writeFile(embedded, body);
    // The times of the file: FFmpeg would shift them by the priming of the audio.
    await encode('-copyts', '-i', embedded, '-map', '0:s:0', '-f', 'srt', `${embedded}.srt`);
    const cues = (await readFile(`${embedded}.srt`, 'utf8')).replaceAll('\r', '').trim().split(/\n\n/);
    return cues.map((cue) => [cue.split('\n')[1], cue.split('\n').slice(2).join('\n')] as const);
  });

// Their length, ranges, ETag and HEAD by every kind of source are in the matrix (test/stream-service/matrix).
describe('?subtitles=', () => {
  it.each<readonly [Formats, ms: string]>([
    [PAIR, '000'],
    [FRAGMENTED_PAIR, '080'],
    [['both.mp4'], '0\\d\\d'],
    [['fragmented-both.mp4'], '0\\d\\d'],
  ])('shows them beside the same packets: %s', async (formats, ms) => {
    const at = await start();
    const { body } = await expectSeekable(at(formats));
    const { codecs, complaints, durationSeconds } = await inspect(body, '.mp4');
    expect([codecs, complaints, Math.round(durationSeconds)]).toEqual([['h264', 'aac', 'mov_text'], '', SECONDS]);
    expect(await shownIn(body)).toEqual(shownTo(ms));
    const [video, audio = video] = formats;
    await site.expectPackets(body, video, audio);
    const combined = await sendRequest(at(formats, 'subtitles=de', 'Combined'));
    expect(combined.body.equals(body)).toBe(true);
    expect(combined.headers['content-location']).toBe(`${new URL(at(formats)).pathname}?subtitles=de`);
  });

  it('names their language, which mpv selects', async () => {
    const url = (await start())(PAIR);
    const language = ['-v', 'error', '-select_streams', 's', '-show_entries', 'stream_tags=language', '-of', 'csv=p=0'];
    expect((await runProgram('ffprobe', [...language, url])).output.trim()).toBe('deu');
    const mpv = await runProgram('mpv', ['--no-config', '--vo=null', '--ao=null', '--start=11', '--length=0.2', url]);
    expect(mpv.output).toMatch(/Subs.*--slang=deu.*mov_text/);
  });

  it('stays the same on another host and after the file has changed', async () => {
    const attachments = new Map<string, Buffer>();
    const { body } = await sendRequest((await start({}, { attachments }))(PAIR));
    for (const name of ['german', 'portuguese'])
      site.texts.set(`${name}.vtt`, Buffer.from(CUES.replace('Second', 'Third')));
    site.handlers.clear();
    const other = await start({}, { attachments });
    expect((await sendRequest(other(PAIR))).body.equals(body)).toBe(true);
    const changed = await sendRequest(other(PAIR, 'subtitles=pt-BR'));
    expect([changed.status, changed.body.includes('Third part')]).toEqual([200, true]);
  });

  it.each<readonly [Formats]>([[PAIR], [FRAGMENTED_PAIR]])('can have tags too, and clips: %s', async (formats) => {
    const at = await start();
    const { length } = (await sendRequest(at(formats))).body;
    const tagged = (await sendRequest(at(formats, 'subtitles=de&tags=true'))).body;
    expect(tagged.length).toBe(length + 65_536);
    const { codecs, tags, complaints } = await inspect(tagged, '.mp4');
    expect([codecs, tags.title, complaints]).toEqual([['h264', 'aac', 'mov_text'], 'A clip', '']);

    const clip = await expectSeekable(at(formats, 'subtitles=de&start=11.6&end=14'));
    expect(await shownIn(clip.body)).toEqual([['00:00:00,400 --> 00:00:01,400', 'Second part']]);
    expect((await inspect(clip.body, '.mp4')).complaints).toBe('');
  });

  it.each<[string, Buffer | Handler]>([
    ['a page', Buffer.from('<!doctype html><title>Sign in</title>')],
    ['empty', Buffer.alloc(0)],
    ['too large', (_, response) => void response.end(Buffer.alloc(6_553_600, 0x20))],
  ])('is 502 where the file is %s', async (_, text) => {
    if (Buffer.isBuffer(text)) site.texts.set('german.vtt', text);
    else site.handlers.set('german.vtt', text);
    const at = await start();
    expect((await sendRequest(at(PAIR))).status).toBe(502);
    expect((await sendRequest(at(PAIR, ''))).status).toBe(200);
  });

  it.each<[string, Formats, endpoint: string, codec: string]>([
    ['a pair without an index', UNINDEXED_PAIR, 'Media', 'h264'],
    ['a pair without an index', UNINDEXED_PAIR, 'Combined', 'h264'],
    ['a pair with WebM without cues', WEBM_PAIR, 'Media', 'vp9'],
    ['a file without an index', ['unindexed-both.mp4'], 'Media', 'h264'],
    ['a file of another container', ['both.mkv'], 'Combined', 'h264'],
  ])('embeds them in %s (%s, %s), from the beginning', async (_, formats, endpoint, codec) => {
    const { headers, body } = await expectUnsized((await start())(formats, 'subtitles=de', endpoint));
    expect(headers['content-type']).toBe('video/mp4');
    expect(await shownIn(body)).toEqual(shownTo('0\\d\\d'));
    const { codecs, complaints, durationSeconds } = await inspect(body, '.mp4');
    expect([codecs, complaints, Math.round(durationSeconds)]).toEqual([[codec, 'aac', 'mov_text'], '', SECONDS]);
  });

  itInChromium('plays in Chromium what is muxed and what has a layout', async () => {
    const at = await start();
    const seekable: readonly Formats[] = [PAIR, FRAGMENTED_PAIR, ['both.mp4']];
    for (const formats of [UNINDEXED_PAIR, WEBM_PAIR, ...seekable]) {
      const places = seekable.includes(formats) ? [15, 3] : [];
      const { duration, seeks } = await playUrl(at(formats), places);
      expect([formats, Math.round(duration), seeks]).toEqual([formats, SECONDS, places]);
    }
  });

  it.each<[Formats, query: string, endpoint?: 'Media' | 'Combined' | 'Hls']>([
    [['both.mp4'], 'subtitles=de&tags=true&mark=sponsor'],
    [['both.mp4'], 'skip=sponsor&tags=true'],
    [['both.mp4'], 'format=mp3&mark=sponsor'],
    [['unindexed-both.mp4'], 'subtitles=de&tags=true'],
    [['both.mkv'], 'format=mp3&tags=true'],
    [['both.mkv'], 'subtitles=de', 'Combined'],
    [WEBM_PAIR, 'subtitles=de&tags=true'],
    [PAIR_OF_FILE, 'subtitles=de', 'Combined'],
    [PAIR_OF_FILE, '', 'Hls'],
  ])('sends for %j?%s (%s) with the first HEAD what GET sends', async (formats, query, endpoint = 'Media') => {
    const segments = await startSegmentsService(answerSegments(segmentOf(5, 7)));
    const chapters = [0, 10].map((startSeconds) => ({ startSeconds, title: `From ${startSeconds}` }));
    const traits = {
      origin: { url: 'https://site.example/watch', extractor: 'Youtube', entryId: VIDEO_ID },
      coverUrl: `${site.upstream.origin}/cover.jpg`,
      details: { chapters },
    };
    const at = await start(traits, segments.options);
    const url = at(formats, query, endpoint).replace('?', endpoint === 'Hls' ? '/master.m3u8?' : '?');
    const head = await sendRequest(url, { method: 'HEAD' });
    const { status, headers } = await sendRequest(url);
    expect(status).toBe(200);
    // Of the body, and of the moment.
    const { 'transfer-encoding': _, date, ...expected } = headers;
    expect(head.headers).toEqual({ ...expected, date: expect.any(String) });
  });

  it.each<readonly [Formats]>([[['both.mp4']], [['unindexed-both.mp4']], [UNINDEXED_PAIR], [WEBM_PAIR]])(
    'is 415 with a reason for more subtitles than a header holds: %s',
    async (formats) => {
      site.texts.set('german.vtt', Buffer.from(`WEBVTT\n\n${overlapping()}`));
      expect(await refusalOf((await start())(formats))).toEqual([415, 'The subtitles are too large to embed.']);
    },
  );
});
