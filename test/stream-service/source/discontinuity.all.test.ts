import { packDashSegments } from '@reelay/seekable-media/dash';
import { beforeEach, expect, it } from 'vitest';
import { sendRequest, statusOrBroken } from '../../support/request.ts';
import { trackOf } from '../fixture.ts';
import { useFolderSite } from '../folder-site.ts';
import { melody, packetTimes } from '../tones.ts';

/** Six seconds of a picture and a tone. */
const coded = (picture: string, tone: number, ...more: string[]): string[] => [
  ...['-f', 'lavfi', '-i', `testsrc=s=${picture}:r=10:d=6`, '-f', 'lavfi', '-i', `sine=${tone}:r=48000:d=6`],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '20', '-bf', '0', '-c:a', 'aac', ...more],
];
/** In three segments. */
const recording = (name: string, ...[picture, tone, ...more]: Parameters<typeof coded>): string[] => [
  ...coded(picture, tone, ...more, '-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod'),
  ...['-hls_segment_type', 'fmp4', '-hls_fmp4_init_filename', `${name}.mp4`],
  ...['-hls_segment_filename', `${name}%d.m4s`, `${name}.m3u8`],
];
/** In one piece of MPEG-TS whose clock begins at a time. */
const broadcast = (name: string, tone: number, seconds: number): string[] =>
  coded('64x48', tone, '-output_ts_offset', String(seconds), '-f', 'mpegts', `${name}.ts`);

const site = useFolderSite([
  recording('low', '64x48', 400),
  recording('high', '64x48', 800),
  recording('wide', '96x48', 800),
  broadcast('early', 400, 0),
  broadcast('late', 800, 14),
  recording('slow', '64x48', 800, '-ar', '44100'),
  recording('turned', '64x48', 800, '-map', '1:a', '-map', '0:v'),
]);
beforeEach(() => {
  // Of an encoder with another name, which says the same.
  const init = Buffer.from(site.read('high.mp4'));
  init.write('\x07Another', init.indexOf('avc1') + 4 + 42, 'latin1');
  site.texts.set('named.mp4', init);
});

const map = (name: string) => `#EXT-X-MAP:URI="${name}.mp4"`;
const media = (name: string) => [0, 1, 2].flatMap((n) => ['#EXTINF:2.000,', `${name}${n}.m4s`]);
const DISCONTINUITY = '#EXT-X-DISCONTINUITY';
/** Media with another one behind a discontinuity. */
const before = (name: string) => [map('low'), ...media('low'), DISCONTINUITY, map(name), ...media(name)];
const piece = (name: string) => ['#EXTINF:6.000,', `${name}.ts`];

/** The address of a rendition of HLS. @param isFile it is read as a file */
async function hls(lines: readonly string[], isFile = false): Promise<string> {
  const list = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:2', ...lines, '#EXT-X-ENDLIST'];
  site.texts.set('a.m3u8', Buffer.from(list.join('\n')));
  const options = isFile ? {} : { findFile: undefined };
  return (await site.serve([trackOf('f', site.listOf('a'))], { durationSeconds: 12 }, {}, options)).media('f');
}

/** That of one of DASH in two periods. */
async function dash(): Promise<string> {
  const urls = ['low', 'high'].flatMap((name) => ['.mp4', '0.m4s', '1.m4s', '2.m4s'].map((part) => name + part));
  const segments = urls.map((path) => ({
    url: `${site.upstream.origin}/${path}`,
    seconds: path.endsWith('.mp4') ? 0 : 2,
  }));
  const track = trackOf('f', { delivery: 'dash', fragments: packDashSegments(segments) });
  return (await site.serve([track], { durationSeconds: 12 }, {}, { findFile: undefined })).media('f');
}

/** @param longest between two pictures, seconds */
async function expectContinuous(body: Buffer, longest = 0.15) {
  const [pictures, sound] = [await packetTimes(body, 'v'), await packetTimes(body, 'a')];
  const longestOf = (times: readonly number[]) =>
    Math.max(...times.map((time, index) => time - (times[index - 1] ?? time)));
  expect(pictures).toHaveLength(120);
  expect(longestOf(pictures)).toBeLessThan(longest);
  expect(pictures.at(-1)).toBeCloseTo(11.9, 0);
  expect(longestOf(sound)).toBeLessThan(0.08);
  expect(sound.at(-1)).toBeCloseTo(12, 0);
}

const changed = (...to: string[]) => [map('low'), ...media('low'), ...to];
it.each<[string, string[]]>([
  ['a discontinuity', changed(DISCONTINUITY, ...media('low'))],
  ['another initialization that says the same', before('high')],
  [
    'the same initialization under another address',
    changed(DISCONTINUITY, '#EXT-X-MAP:URI="low.mp4?again"', ...media('low')),
  ],
  ['another initialization with other track ids', before('turned')],
  ['an initialization that names another encoder', changed(DISCONTINUITY, map('named'), ...media('high'))],
  ['another initialization alone', changed(map('high'), ...media('high'))],
])('is continuous behind %s', async (_, lines) => {
  const { status, body } = await sendRequest(await hls(lines));
  expect(status).toBe(200);
  await expectContinuous(body);
});

it.each<[string, () => Promise<string>, number?]>([
  ['periods of DASH', dash],
  ['MPEG-TS with other times', () => hls([...piece('early'), DISCONTINUITY, ...piece('late')]), 0.3],
])('is continuous across %s, and converts to MP3', async (_, serve, longest) => {
  const url = await serve();
  await expectContinuous((await sendRequest(url)).body, longest);
  expect(await melody((await sendRequest(`${url}?format=mp3`)).body)).toBe('400×6 800×6');
});

it.each<[string, string, boolean]>([
  ['another initialization', 'high', true],
  ['pictures of another size', 'wide', false],
  ['pictures of another size, as a file,', 'wide', true],
])('converts to MP3 completely behind %s', async (_, name, isFile) => {
  const url = `${await hls(before(name), isFile)}?format=mp3`;
  const { body } = await sendRequest(url);
  expect(await melody(body)).toBe('400×6 800×6');
  if (!isFile) return;
  const part = await sendRequest(url, { headers: { range: 'bytes=200000-' } });
  expect(part.body.equals(body.subarray(200_000))).toBe(true);
});

it.each<[string, string[], string, (number | string)[]]>([
  ['another size of pictures', before('wide'), '', [415]],
  ['another rate of sound', before('slow'), '', [415]],
  ['another rate of sound', before('slow'), '?format=mp3', [415]],
  [
    'more initializations than are read ahead, and another size',
    [
      ...Array.from({ length: 17 }, (_, n) => [`#EXT-X-MAP:URI="low.mp4?${n}"`, '#EXTINF:2.000,', 'low0.m4s']).flat(),
      ...[DISCONTINUITY, map('wide'), ...media('wide')],
    ],
    '',
    ['broken', 502],
  ],
])('with %s is refused, at the latest midway', async (_, lines, query, outcomes) => {
  const answer = sendRequest((await hls(lines)) + query);
  expect(outcomes).toContain(await statusOrBroken(answer));
  if (outcomes.includes(415))
    expect(JSON.parse((await answer).body.toString()).detail).toMatch(/^The encoding changes/);
});
