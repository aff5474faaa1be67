import { describe, expect, it } from 'vitest';
import { mp3Frames, mp3SizeBytes } from '../../../core/conversions/mp3.ts';
import { id3Tag } from '../../../packages/seekable-media/src/id3/id3-tag.ts';

const silent = { title: null, artist: null };

describe('mp3Frames', () => {
  it.each([
    [0.024, 2],
    [0.048, 3],
    [0.0240001, 2],
    [1, 43],
    [10, 418],
    [212.091, 8839],
  ])('counts %d s as %d frames, one for the encoder delay included', (seconds, frames) =>
    expect(mp3Frames(seconds)).toBe(frames),
  );
});

describe('mp3SizeBytes', () => {
  it('adds 576 bytes per frame, and one of its length, to the tag', () => {
    expect(mp3SizeBytes(10, silent)).toBe(419 * 576);
    const text = { title: 'Song', artist: 'Singer' };
    expect(mp3SizeBytes(10, text)).toBe(id3Tag(text).length + 419 * 576);
  });

  it('returns undefined beyond the safe integers', () => expect(mp3SizeBytes(1e13, silent)).toBeUndefined());
});
