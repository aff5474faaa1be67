import { describe, expect, it } from 'vitest';
import { probe, runProgram } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { expectSeekable } from '../../../support/seekable.ts';
import { AUDIO_RATE, decode, heardSamples, meanDifference, once } from './clip-fixture.ts';
import { usePairMedia } from './pair-fixture.ts';

/** Behind the last clip. */
const DECODED_SECONDS = 60;
const media = await usePairMedia();
/** Of the files that clips are made from. */
const decodeWhole = once((files: readonly string[]) => decode(files.map(media.pathOf), DECODED_SECONDS));

/** FFmpeg drops so many samples from the beginning: the pre-skip is 312, and the first packet lasts 48 longer than it decodes to. */
const DROPPED_OF_OPUS = 360;

/** Expects of an output the pictures of files from a time to another one, with their sound. */
async function expectPart(url: string, files: readonly string[], from: number, to: number) {
  const [part, whole] = [await decode([url]), await decodeWhole(files)];
  expect(part.complaints).toBe('');
  const firstAt = whole.frames.findLastIndex(({ seconds }) => seconds <= from + 1e-3);
  const first = whole.frames[firstAt]?.seconds ?? Number.NaN;
  const shown = whole.frames.slice(firstAt).filter(({ seconds }) => seconds < to - 2e-5);
  expect(part.frames[0]?.seconds).toBe(0);
  expect(part.frames.map(({ digest }) => digest)).toEqual(shown.map(({ digest }) => digest));
  const { durationSeconds } = await probe(url);
  expect(Math.abs(durationSeconds - (to - first))).toBeLessThan(0.05);
  expect(Math.abs(part.samples.length / AUDIO_RATE - (to - first))).toBeLessThan(0.05);
  const offset = Math.round(first * AUDIO_RATE) - (files.includes('opus.mp4') ? DROPPED_OF_OPUS : 0);
  // Where the resampler has settled.
  const [heard, wanted] = [part.samples.subarray(4800, 48_000), whole.samples.subarray(offset + 4800, offset + 48_000)];
  expect(meanDifference(wanted, heard)).toBeLessThan(40);
}

describe('a clip of Media', () => {
  it.each<readonly [readonly string[], string, number, number]>([
    [['indexed.mp4', 'indexed.m4a'], 'start=12.34&end=27.5', 12.34, 27.5],
    [['absolute.mp4', 'indexed.m4a'], 'start=40&end=50', 40, 50],
    [['long-video.mp4', 'long-audio.m4a'], 'start=21.05&end=30', 21.05, 30],
    [['long-video.mp4', 'indexed.m4a'], 'end=5', 0, 5],
    [['bframes.mp4', 'short-indexed.m4a'], 'start=2.4&end=5.2', 2.4, 5.2],
    [['bframes.mp4', 'ladder/aac-128.m4a'], 'start=5.5', 5.5, 8],
    [['vp9.mp4', 'opus.mp4'], 'start=1.5&end=4', 1.5, 4],
    [['hevc.mp4', 'ac3.mp4'], 'start=2.2&end=4.4', 2.2, 4.4],
    [['ladder/av1-180.mp4', 'flac.mp4'], 'start=2&end=4', 2, 4],
    [['ladder/both-360.mp4'], 'start=2.5&end=9999', 2.5, 8],
    [['clip-tail.mp4'], 'start=1.02&end=3.5', 1.02, 3.5],
    [['muxed-indexed.mp4'], 'start=33.25&end=48', 33.25, 48],
  ])('of %j with %s shows the frames and sounds as the whole does then', async (files, query, from, to) => {
    const url = `${(await media.start(files)).url}?${query}`;
    expect((await expectSeekable(url)).headers['content-type']).toBe('video/mp4');
    await expectPart(url, files, from, to);
  });

  it('has a name and an entity tag of its times', async () => {
    const { url } = await media.start(['indexed.mp4', 'indexed.m4a']);
    const headers = { range: 'bytes=0-9' };
    const queries = ['start=20&end=40.5', '', 'start=20', 'start=20&end=40'];
    const all = await Promise.all(queries.map((query) => sendRequest(`${url}?${query}`, { headers })));
    expect(new Set(all.map(({ headers }) => headers.etag)).size).toBe(4);
    expect(all[0]?.headers['content-disposition']).toContain(
      "filename*=UTF-8''Someone%20-%20A%20clip%20%280-20%E2%80%930-40.5%29.mp4",
    );
  });

  it('of audio alone is cut at the sample', async () => {
    const { url } = await media.start(['ladder/aac-128.m4a']);
    const [all, heard] = await Promise.all(
      [media.pathOf('ladder/aac-128.m4a'), `${url}?start=1.23456&end=3`].map(heardSamples),
    );
    if (!all || !heard) throw new Error('unreachable');
    const offset = Math.round(1.23456 * AUDIO_RATE);
    expect(meanDifference(all.subarray(offset, offset + 48_000), heard.subarray(0, 48_000))).toBeLessThan(2);
    // FFmpeg 5 plays the last packet to its end.
    expect(heard.length - (3 - 1.23456) * AUDIO_RATE).toBeGreaterThan(-1);
    expect(heard.length - (3 - 1.23456) * AUDIO_RATE).toBeLessThan(1024);
  });
});

/** When the keyframes of a file are shown, in seconds. */
const keyframes = once(async (file: string) => {
  const packets = ['-select_streams', 'v:0', '-show_entries', 'packet=pts_time,flags', '-of', 'csv=p=0'];
  const { output } = await runProgram('ffprobe', ['-v', 'error', ...packets, media.pathOf(file)]);
  return [...output.matchAll(/^([\d.]+),K/gm)].map(([, seconds]) => Number(seconds)).toSorted((a, b) => a - b);
});

describe('Combined from a time on', () => {
  it.each<readonly [readonly [string, ...string[]], number]>([
    [['ladder/h264-720.mp4', 'ladder/aac-128.m4a'], 3.33],
    [['chained-short.mp4', 'short-indexed.m4a'], 2.4],
    [['vp9.mp4', 'opus.mp4'], 1.5],
    [['ladder/both-360.mp4'], 2.5],
  ])('begins %j with the keyframe at or before %d, with the sound of that moment', async (files, seconds) => {
    const url = `${(await media.start(files)).urlOf('Combined')}?start=${seconds}`;
    const { status, headers, body } = await sendRequest(url);
    expect([status, headers['accept-ranges'], headers['content-length']]).toEqual([200, 'none', String(body.length)]);
    const keyframe = (await keyframes(files[0])).findLast((time) => time <= seconds) ?? Number.NaN;
    expect(Number(headers['x-argon-start'])).toBeCloseTo(keyframe, 3);
    const head = await sendRequest(url, { method: 'HEAD', headers: { range: 'bytes=5-9' } });
    expect([head.status, head.headers]).toEqual([200, { ...headers, date: expect.any(String) }]);
    await expectPart(url, files, keyframe, 8);
  });

  it('of audio alone begins at the time itself', async () => {
    const { urlOf } = await media.start(['ladder/aac-128.m4a']);
    const { status, headers } = await sendRequest(`${urlOf('Combined')}?start=1.5`);
    expect([status, headers['x-argon-start']]).toEqual([200, '1.500']);
  });
});

it.each([
  ['Media', ['indexed.mp4', 'indexed.m4a'], 'start=300.5', /Nothing is shown/],
  ['Media', ['unindexed.mp4', 'indexed.m4a'], 'start=1&end=2', /fragments without an index|No segment index/],
  ['Media', ['unindexed.mp4'], 'start=1&end=2', /fragments without an index|No segment index/],
  ['Media', ['tone.webm'], 'start=1&end=2', /A box reaches beyond the file/],
  ['Combined', ['unindexed.mp4', 'indexed.m4a'], 'start=1', /index/],
] as const)('%s of %j is 400 with the reason: %s', async (route, files, query, detail) => {
  const { urlOf } = await media.start(files);
  const { status, body } = await sendRequest(`${urlOf(route)}?${query}`);
  expect([status, JSON.parse(body.toString()).detail]).toEqual([400, expect.stringMatching(detail)]);
});

it.each([
  ['Media', 'start=150&end=155'],
  ['Combined', 'start=150'],
])('%s with %s reads the files from there on', async (route, query) => {
  const { urlOf, sources } = await media.start(['indexed.mp4', 'indexed.m4a']);
  await sendRequest(`${urlOf(route)}?${query}`, { maxBytes: 100 });
  for (const { reads, size = 0 } of sources) {
    // The header and what follows the last fragment are read first.
    const places = reads.map(({ first }) => first / size).filter((place) => place > 0.05 && place < 0.99);
    expect(places.length).toBeGreaterThan(0);
    expect(Math.min(...places)).toBeGreaterThan(0.45);
    if (route === 'Media') expect(Math.max(...places)).toBeLessThan(0.55);
  }
});
