import { describe, expect, it } from 'vitest';
import { mp3SizeBytes } from '../../../../../core/conversions/conversion.ts';
import type { Rendition, Resource } from '../../../../../core/state/resource.ts';
import {
  GROUP_FRAMES,
  mp3Encoding,
  promisedFrames,
} from '../../../../../stream-service/outputs/encode/encoded-formats.ts';
import {
  clipLayout,
  type FrameLayout,
  layoutBytes,
  nextFrameRange,
  tagSlice,
} from '../../../../../stream-service/outputs/encode/frames/frame-layout.ts';
import { randomFrom } from './coded-sound.ts';
import { resourceOf, track } from './fixture.ts';

const SEGMENT_BYTES = GROUP_FRAMES * 576;
const layout: FrameLayout = { tagBytes: 100, encoding: mp3Encoding(192), frames: 15_000 };
const size = layoutBytes(layout);

describe('clipLayout', () => {
  it.each([
    ['starts after the end', { startSeconds: 400, endSeconds: 500 }],
    ['is skipped as a whole', { startSeconds: 0, endSeconds: 9, skipped: [{ startSeconds: 0, endSeconds: 9 }] }],
  ])('says that nothing is left of what %s', (_, times) =>
    expect(() => clipLayout(layout, times)).toThrow('Nothing of the media is in the clip.'),
  );
});

describe('nextFrameRange', () => {
  it.each([
    ['only the tag', 0, 99, 500, undefined],
    ['the boundary of two frames', 675, 676, 500, { group: 0, firstFrame: 0, endFrame: 2, slice: [575, 577] }],
    ['a limited number of frames', 0, size - 1, 500, { group: 0, firstFrame: 0, endFrame: 500, slice: [0, 288_000] }],
    [
      'the last frame of a group',
      100 + SEGMENT_BYTES - 1,
      size - 1,
      500,
      { group: 0, firstFrame: GROUP_FRAMES - 1, endFrame: GROUP_FRAMES, slice: [575, 576] },
    ],
  ])('selects %s', (_, first, last, frames, piece) =>
    expect(nextFrameRange(layout, first, last, frames)).toEqual(piece),
  );

  it('covers any byte range exactly, whatever the number of frames per step', () => {
    const random = randomFrom(3);
    const upTo = (end: number) => Math.floor(random() * end);
    for (let round = 0; round < 200; round += 1) {
      const first = upTo(size);
      const last = first + upTo(size - first);
      expect(tagSlice(layout, first, last)).toEqual([Math.min(first, 100), Math.min(last + 1, 100)]);
      let cursor = Math.max(first, layout.tagBytes);
      for (;;) {
        const piece = nextFrameRange(layout, cursor, last, 1 + upTo(9000));
        if (!piece) break;
        expect(layout.tagBytes + piece.firstFrame * 576 + piece.slice[0]).toBe(cursor);
        expect(Math.floor((piece.endFrame - 1) / GROUP_FRAMES)).toBe(piece.group);
        expect(piece.slice[1]).toBeLessThanOrEqual((piece.endFrame - piece.firstFrame) * 576);
        cursor += piece.slice[1] - piece.slice[0];
      }
      expect(cursor).toBe(Math.max(last + 1, layout.tagBytes));
    }
  });
});

describe('promisedFrames', () => {
  const text = { title: 'Title', artist: 'Artist' };
  const promised = {
    title: 'Title',
    author: 'Artist',
    renditions: [{ id: 'carrier', formatIds: ['best'] }] as unknown as Rendition[],
    mp3: { renditionId: 'carrier', sizeBytes: mp3SizeBytes(60, text) },
  };

  it.each<[string, Partial<Resource>, number | undefined]>([
    ['the promised size', { ...promised, durationSeconds: 75 }, 2501],
    ['the duration without a promise', { durationSeconds: 60 }, 2501],
    ['the duration where the promise is for another track', { ...promised, renditions: [], durationSeconds: 75 }, 3126],
    ['nothing without a duration', {}, undefined],
    ['nothing with a duration of 0', { durationSeconds: 0 }, undefined],
    ['nothing beyond the safe integers', { durationSeconds: 1e13 }, undefined],
    [
      'nothing for a promised size beyond the safe integers',
      { ...promised, mp3: { renditionId: 'carrier', sizeBytes: 239_999_999_999_976_600 } },
      undefined,
    ],
    ['nothing when it is live', { durationSeconds: 60, isLive: true }, undefined],
  ])('follows %s', (_, traits, frames) => expect(promisedFrames(resourceOf(traits), track)).toBe(frames));
});
