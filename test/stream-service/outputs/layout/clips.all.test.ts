import { describe, expect, it } from 'vitest';
import { probe } from '../../../support/media-tools.ts';
import { sendRequest } from '../../../support/request.ts';
import { expectSeekable } from '../../../support/seekable.ts';
import {
  AUDIO_RATE,
  decode,
  type Files,
  type Frame,
  fetchClip,
  heardSamples,
  once,
  packets,
  startMedia,
} from './clip-fixture.ts';
import { usePairMedia } from './pair-fixture.ts';

/** Behind the last clip. */
const DECODED_SECONDS = 51;
/** Of the files that clips are made from. */
const source = { decode: once((files: Files) => decode(files, DECODED_SECONDS)), packets: once(packets) };
const media = await usePairMedia();

const start = (...files: Files) => startMedia(media, files);

/** The frame of the whole that is shown at a time. */
function frameAt(frames: readonly Frame[], seconds: number): Frame {
  const shown = frames.findLast((frame) => frame.seconds <= seconds + 2e-5);
  if (!shown) throw new Error(`No frame at ${seconds}`);
  return shown;
}

/** Whether the items follow each other in the whole, in this order. */
const isPartOf = (part: readonly string[], whole: readonly string[]) =>
  whole.some((_, at) => part.every((item, index) => item === whole[at + index]));

/**
 * Samples that FFmpeg drops from the beginning of the whole, or lets overlap there: the pre-skip of Opus is 312, and the
 * first packet of this file lasts 48 samples longer than it decodes to.
 */
const DROPPED: Readonly<Record<string, number>> = { 'opus.mp4': 360 };
const CASES: readonly (readonly [Files, number, number])[] = [
  [['indexed.mp4', 'indexed.m4a'], 12.34, 27.5],
  [['absolute.mp4', 'indexed.m4a'], 40, 50],
  [['long-video.mp4', 'long-audio.m4a'], 21.05, 30],
  [['long-video.mp4', 'indexed.m4a'], 0, 5],
  [['bframes.mp4', 'short-indexed.m4a'], 2.4, 5.2],
  [['bframes.mp4', 'ladder/aac-128.m4a'], 3.33, 6],
  [['vp9.mp4', 'opus.mp4'], 1.5, 4],
  [['hevc.mp4', 'ac3.mp4'], 2.2, 4.4],
  [['ladder/av1-180.mp4', 'flac.mp4'], 2, 4],
  [['ladder/both-360.mp4'], 2.5, 6.25],
  [['clip-tail.mp4'], 1.02, 3.5],
  [['muxed-indexed.mp4'], 33.25, 48],
];

describe('a clip of Media', () => {
  it.each(CASES)('of %j from %d to %d shows the frame and sounds as the whole does then', async (files, from, to) => {
    const { url } = await start(...files);
    const { status, headers, body, file } = await fetchClip(media, url, `start=${from}&end=${to}`);
    expect([status, status === 200 ? '' : body.toString()]).toEqual([200, '']);
    expect(headers['content-type']).toBe('video/mp4');
    const clip = await decode([file]);
    expect(clip.complaints).toBe('');

    const [videoFile, audioFile] = files;
    const sources: Files = audioFile ? [media.pathOf(videoFile), media.pathOf(audioFile)] : [media.pathOf(videoFile)];
    const whole = await source.decode(sources);
    const first = frameAt(whole.frames, from);
    expect(clip.frames[0]).toEqual({ seconds: 0, digest: first.digest });
    const last = whole.frames.findLast(({ seconds }) => seconds < to - 2e-5);
    expect(clip.frames.at(-1)?.digest).toBe(last?.digest);
    const { durationSeconds } = await probe(file);
    expect(durationSeconds).toBeGreaterThanOrEqual(to - first.seconds - 0.05);
    expect(durationSeconds).toBeLessThan(to - first.seconds + 0.05);

    const [part, all] = [await packets([file]), await source.packets(sources)];
    expect(isPartOf(part.video, all.video)).toBe(true);
    expect(isPartOf(part.audio, all.audio)).toBe(true);
    const offset = Math.round(first.seconds * AUDIO_RATE) - (DROPPED[audioFile ?? ''] ?? 0);
    // Where the resampler has settled.
    const difference = meanDifference(
      whole.samples.subarray(offset + 4800, offset + 48_000),
      clip.samples.subarray(4800, 48_000),
    );
    expect(difference).toBeLessThan(40);
    expect(Math.abs(clip.samples.length / AUDIO_RATE - (to - first.seconds))).toBeLessThan(0.05);
  });

  it('assembles from ranges, and answers HEAD, If-Range and 416 as files do', async () => {
    const { url: whole } = await start('indexed.mp4', 'indexed.m4a');
    const url = `${whole}?start=20&end=40.5`;
    const { headers: full } = await expectSeekable(url);
    expect(full['content-disposition']).toContain(
      "filename*=UTF-8''Someone%20-%20A%20clip%20%280-20%E2%80%930-40.5%29.mp4",
    );
    const others = await Promise.all(['', '?start=20', '?start=20&end=40'].map((query) => sendRequest(whole + query)));
    expect(new Set([full.etag, ...others.map(({ headers }) => headers.etag)]).size).toBe(4);
  });

  it.each([
    ['start=280', 20],
    ['end=7.5', 7.5],
    ['start=290&end=9999', 10],
  ])('takes an open end: %s', async (query, seconds) => {
    const { url } = await start('indexed.mp4', 'indexed.m4a');
    const { file } = await fetchClip(media, url, query);
    expect((await probe(file)).durationSeconds).toBeCloseTo(seconds, 0);
  });

  it('of audio alone is cut at the sample', async () => {
    const { url } = await start('ladder/aac-128.m4a');
    const { file } = await fetchClip(media, url, 'start=1.23456&end=3');
    const [all, heard] = [await heardSamples(media.pathOf('ladder/aac-128.m4a')), await heardSamples(file)];
    const offset = Math.round(1.23456 * AUDIO_RATE);
    expect(meanDifference(all.subarray(offset, offset + 48_000), heard.subarray(0, 48_000))).toBeLessThan(2);
    // FFmpeg 5 plays the last packet to its end.
    expect(heard.length - (3 - 1.23456) * AUDIO_RATE).toBeGreaterThan(-1);
    expect(heard.length - (3 - 1.23456) * AUDIO_RATE).toBeLessThan(1024);
  });

  it('that begins behind the end is 400 with the reason', async () => {
    const { status, body } = await sendRequest(`${(await start('indexed.mp4', 'indexed.m4a')).url}?start=300.5`);
    expect([status, body.toString()]).toEqual([400, expect.stringContaining('Nothing is shown')]);
  });

  it.each([
    [['unindexed.mp4', 'indexed.m4a'], /fragments without an index|No segment index/],
    [['unindexed.mp4'], /fragments without an index|No segment index/],
    [['tone.webm'], /A box reaches beyond the file/],
  ] as const)('of %j, which has no layout, is 400 with the reason', async (files, detail) => {
    const { url } = await start(...(files as unknown as Files));
    const { status, body } = await sendRequest(`${url}?start=1&end=2`);
    expect([status, JSON.parse(body.toString()).detail]).toEqual([400, expect.stringMatching(detail)]);
  });

  it('reads only the fragments of the clip', async () => {
    const { url, sources } = await start('indexed.mp4', 'indexed.m4a');
    await sendRequest(`${url}?start=150&end=155`, { headers: { range: 'bytes=0-99' } });
    for (const { reads, size = 0 } of sources) {
      // The header and what follows the last fragment are read first.
      const places = reads.map(({ first }) => first / size).filter((place) => place > 0 && place < 0.99);
      expect(places.length).toBeGreaterThan(0);
      for (const place of places) expect(Math.abs(place - 0.5)).toBeLessThan(0.05);
    }
  });
});

function meanDifference(a: Int16Array, b: Int16Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0) / a.length;
}
