import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MP3_BITRATES_KBPS, mp3FrameBytes, mp3Frames } from '../../../../../core/conversions/mp3.ts';
import { id3Tag } from '../../../../../core/media/id3/id3-tag.ts';
import { ensureMedia } from '../../../../origin/media.ts';
import { probe } from '../../../../support/media-tools.ts';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { randomFrom } from './coded-sound.ts';
import { fastLame, fileSource, readRange, resourceOf, shortSegments, startMp3, track } from './fixture.ts';

/** With the boundary of two segments at 24 s. */
const SECONDS = 30;
const source = await readFile(join(await ensureMedia(), 'long-audio.m4a'));
const folder = await temporaryFolder();
const mp3 = await startMp3({}, (encoding) => fastLame(shortSegments(encoding)));
const tagBytes = id3Tag({ title: 'Title', artist: 'Artist' }).length;

describe('mp3FrameBytes', () => {
  it.each([
    [128, 384],
    [192, 576],
    [256, 768],
    [320, 960],
  ] as const)('of %d kbit/s is %d', (bitrateKbps, bytes) => expect(mp3FrameBytes(bitrateKbps)).toBe(bytes));
});

describe('an MP3 conversion with a bit rate', () => {
  const resource = resourceOf({ durationSeconds: SECONDS, title: 'Title', author: 'Artist' });
  const open = (
    bitrateKbps?: (typeof MP3_BITRATES_KBPS)[number],
    clip?: { startSeconds: number; endSeconds: number },
  ) => mp3.open(resource, track, fileSource(source), clip, { bitrateKbps });

  it.each([128, 320] as const)('of %d kbit/s has its exact size, and the same bytes for any range', async (kbps) => {
    const converted = await open(kbps);
    const whole = await readRange(converted, 0);
    expect(converted.size).toBe(tagBytes + (1 + mp3Frames(SECONDS)) * mp3FrameBytes(kbps));
    expect(whole.length).toBe(converted.size);
    const random = randomFrom(kbps);
    const boundary = tagBytes + 1000 * mp3FrameBytes(kbps);
    const ranges = [[boundary - 700, boundary + 700] as const].concat(
      Array.from({ length: 3 }, () => {
        const first = Math.floor(random() * whole.length);
        return [first, Math.min(first + Math.floor(random() ** 3 * 500_000), whole.length - 1)] as const;
      }),
    );
    for (const [first, last] of ranges)
      expect((await readRange(converted, first, last)).equals(whole.subarray(first, last + 1)), `${first}`).toBe(true);

    const file = join(folder, `${kbps}.mp3`);
    await writeFile(file, whole);
    const { durationSeconds, tags } = await probe(file);
    expect(durationSeconds).toBeCloseTo(SECONDS, 0);
    expect(tags).toMatchObject({ title: 'Title', artist: 'Artist' });
  });

  it('has an ETag of its own, which for 192 kbit/s is that of no choice', async () => {
    const etags = await Promise.all(MP3_BITRATES_KBPS.map(async (kbps) => (await open(kbps)).etag));
    expect(new Set(etags).size).toBe(MP3_BITRATES_KBPS.length);
    expect(etags[1]).toBe((await open()).etag);
  });

  it('has clips that are frames of the whole', async () => {
    const whole = await readRange(await open(128), 0, tagBytes + 1002 * 384 - 1);
    const clip = await readRange(await open(128, { startSeconds: 12, endSeconds: 24 }), 0);
    const frames = whole.subarray(tagBytes + 501 * 384, tagBytes + 1002 * 384);
    expect(clip.subarray(tagBytes + 384).equals(frames)).toBe(true);
  });
});
