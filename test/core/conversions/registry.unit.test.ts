import { describe, expect, it } from 'vitest';
import { findConversionName, tagText } from '../../../core/conversions/index.ts';

describe('findConversionName', () => {
  it.each([
    ['mp3', 'mp3'],
    ['MP3', 'mp3'],
    ['OPUS', 'opus'],
    ['ogg', undefined],
    ['', undefined],
    ['toString', undefined],
    [undefined, undefined],
  ])('resolves %j to %j', (name, found) => expect(findConversionName(name)).toBe(found));
});

describe('tagText', () => {
  it('uses title and author', () =>
    expect(tagText({ title: 'Song', author: 'Singer' })).toEqual({ title: 'Song', artist: 'Singer' }));

  it('prefers the text promised by an earlier resolve', () => {
    const tag = { title: 'Old', artist: null };
    expect(tagText({ title: 'Song', author: 'Singer', tag })).toBe(tag);
  });
});
