import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { InvalidParameter } from '../../../../../core/errors/index.ts';
import { ensureMedia } from '../../../../origin/media.ts';
import { decode, RATE } from './coded-sound.ts';
import { fastLame, fileSource, readRange, resourceOf, shortSegments, startMp3, track } from './fixture.ts';

/** An ID3 tag has a header of 10 bytes with its size in four times seven bits. */
const tagBytesOf = (file: Buffer) => 10 + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + file.readUInt8(at), 0);

describe('a clip of an MP3 conversion', () => {
  const resource = resourceOf({ durationSeconds: 40, title: 'Title', author: 'Artist' });
  let source: Buffer;
  let whole: Buffer;
  let mp3: Awaited<ReturnType<typeof startMp3>>;
  beforeAll(async () => {
    source = await readFile(join(await ensureMedia(), 'long-audio.m4a'));
    mp3 = await startMp3({}, (encoding) => fastLame(shortSegments(encoding)));
    whole = await readRange(await mp3.open(resource, track, fileSource(source)), 0);
  });

  const open = (startSeconds: number, endSeconds = 9999, from = resource) =>
    mp3.open(from, track, fileSource(source), { startSeconds, endSeconds });

  it.each([
    [10, 25, 416, 1043],
    [0, 0.024, 0, 2],
    [0.024, 0.048, 1, 3],
    [0.0239, 0.0241, 0, 2],
    [0.12, 1.2, 5, 51],
    [23.9, 30, 995, 1251],
    [30, 9999, 1250, 1668],
  ])('from %d to %d has the tag, its length and frames %d to %d of the whole', async (start, end, first, last) => {
    const clip = await open(start, end);
    const body = await readRange(clip, 0);
    expect(body.length).toBe(clip.size);
    const tagBytes = tagBytesOf(whole);
    const frames = whole.subarray(tagBytes + (1 + first) * 576, tagBytes + (1 + last) * 576);
    // Decoded samples are a function of the segment, its first frames of an encoder that has run for a while.
    const info = body.subarray(tagBytes, tagBytes + 576);
    expect(Buffer.compare(body, Buffer.concat([whole.subarray(0, tagBytes), info, frames]))).toBe(0);
    expect(clip.clip).toEqual({ startSeconds: start, endSeconds: Math.min(end, 40) });
  });

  it('lasts as long as asked for', async () => {
    expect((await decode(await readRange(await open(10.5, 25.25), 0))).length).toBe(14.75 * RATE);
  });

  it.each([
    ['starts at the end', 40.032, resource],
    ['is of unknown duration', 1, resourceOf({})],
  ])('is rejected when it %s', async (_name, start, from) => {
    await expect(open(start, undefined, from)).rejects.toThrow(InvalidParameter);
  });
});
