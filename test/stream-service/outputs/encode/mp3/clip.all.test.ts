import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { InvalidParameter } from '../../../../../core/errors/index.ts';
import { mp3Encoding } from '../../../../../stream-service/outputs/encode/encoded-formats.ts';
import { clipFrames } from '../../../../../stream-service/outputs/encode/frames/frame-layout.ts';
import { ensureMedia } from '../../../../origin/media.ts';
import { inspect } from '../../../../support/media-tools.ts';
import { decode, RATE } from './coded-sound.ts';
import { fastLame, fileSource, readRange, resourceOf, startMp3, track } from './fixture.ts';

/** An ID3 tag has a header of 10 bytes with its size in four times seven bits. */
const tagBytesOf = (file: Buffer) => 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + file.readUInt8(at), 0);

describe('a clip of an MP3 conversion', () => {
  const resource = resourceOf({ durationSeconds: 160, title: 'Title', author: 'Artist' });
  let source: Buffer;
  let whole: Buffer;
  let mp3: Awaited<ReturnType<typeof startMp3>>;
  beforeAll(async () => {
    source = await readFile(join(await ensureMedia(), 'long-audio.m4a'));
    mp3 = await startMp3({}, fastLame);
    whole = await readRange(await mp3.open(resource, track, fileSource(source)), 0);
  }, 120_000);

  const open = (startSeconds: number, endSeconds = Number.POSITIVE_INFINITY, from = resource) =>
    mp3.open(from, track, fileSource(source), { startSeconds, endSeconds });

  it.each([
    [10, 25, 416, 1043],
    [0, 0.024, 0, 2],
    [143.9, 150, 5995, 6251],
    [159, Number.POSITIVE_INFINITY, 6625, 6668],
    [150, 9999, 6250, 6668],
  ])('from %d to %d has the tag, its length and frames %d to %d of the whole', async (start, end, first, last) => {
    const clip = await open(start, end);
    const body = await readRange(clip, 0);
    expect(body.length).toBe(clip.size);
    const tagBytes = tagBytesOf(whole);
    const frames = whole.subarray(tagBytes + (1 + first) * 576, tagBytes + (1 + last) * 576);
    // Decoded samples are a function of the segment, its first frames of an encoder that has run for a while.
    const info = body.subarray(tagBytes, tagBytes + 576);
    expect(Buffer.compare(body, Buffer.concat([whole.subarray(0, tagBytes), info, frames]))).toBe(0);
    expect(clip.clip).toEqual({ startSeconds: start, endSeconds: Math.min(end, 160) });
  });

  it('reads any range, and lasts as long as asked for', async () => {
    const clip = await open(60.5, 75.25);
    const body = await readRange(clip, 0);
    const size = clip.size ?? 0;
    for (const [first, last] of [
      [0, 9],
      [100, 5000],
      [size - 700, size - 1],
      [tagBytesOf(body) + 575, 20_000],
    ] as const) {
      expect((await readRange(clip, first, last)).equals(body.subarray(first, last + 1))).toBe(true);
    }
    const probed = await inspect(body, '.mp3');
    expect(probed.complaints).toBe('');
    expect(Math.abs(probed.durationSeconds - 14.75)).toBeLessThan(0.06);
    const decoded = await decode(body);
    expect(decoded.length).toBe(14.75 * RATE);
  });

  it('has an ETag of its own', async () => {
    const clips = [
      await open(1, 2),
      await open(1, 3),
      await open(2, 3),
      await mp3.open(resource, track, fileSource(source)),
    ];
    expect(new Set(clips.map(({ etag }) => etag)).size).toBe(4);
    expect((await open(1, 2)).etag).toBe(clips[0]?.etag);
  });

  it.each([
    ['starts after the end', 160.5, resource],
    ['is of live audio', 1, resourceOf({ isLive: true })],
    ['is of unknown duration', 1, resourceOf({})],
  ])('is rejected when it %s', async (_name, start, from) => {
    await expect(open(start, undefined, from)).rejects.toThrow(InvalidParameter);
  });
});

describe('clipFrames', () => {
  it.each([
    [0.024, 0.048, { firstFrame: 1, frames: 2 }],
    [0.0239, 0.0241, { firstFrame: 0, frames: 2 }],
    [0.12, 1.2, { firstFrame: 5, frames: 46 }],
    [2.4, 9, undefined],
  ])('from %d to %d of 100 frames', (startSeconds, endSeconds, frames) =>
    expect(clipFrames({ startSeconds, endSeconds }, { frames: 100, encoding: mp3Encoding() })).toEqual(frames),
  );
});
