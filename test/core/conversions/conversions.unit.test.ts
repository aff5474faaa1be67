import { describe, expect, it } from 'vitest';
import { mp3Frames, mp3SizeBytes, recordingText, tagText } from '../../../core/conversions/conversion.ts';
import { findConversionName } from '../../../core/conversions/formats/index.ts';
import { id3Tag } from '../../../packages/seekable-media/src/tags/id3.ts';

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

const link = 'https://a.example/';
const recording = { title: 'T', author: 'A', origin: { url: link } };
const place = { album: 'A list', trackNumber: 7 };
const PROMISED = { title: 'P', artist: null, album: 'An album' };

describe('recordingText', () => {
  it.each([
    ['the list for a recording without an album', {}, { title: 'T', artist: 'A', album: 'A list', trackNumber: 7 }],
    ['the source’s number', { trackNumber: 3 }, { title: 'T', artist: 'A', album: 'A list', trackNumber: 3 }],
    ['the album of a recording', { album: 'An album' }, { title: 'T', artist: 'A', album: 'An album' }],
    ['a promised text first', { tag: PROMISED }, PROMISED],
  ])('has %s', (_, changes, expected) => {
    expect(recordingText({ ...recording, ...changes }, place)).toEqual({ ...expected, link });
  });
});

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
