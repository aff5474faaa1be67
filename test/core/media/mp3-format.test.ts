import { describe, expect, it } from 'vitest';
import { id3Tag, mp3Frames, mp3SizeBytes } from '../../../core/media/mp3/mp3-format.ts';

const silent = { title: null, artist: null };

describe('mp3Frames', () => {
  it.each([
    [0.024, 2],
    [0.048, 3],
    [0.0240001, 2],
    [1, 43],
    [10, 418],
    [212.091, 8839],
  ])('%d seconds are %d frames, one for the delay of the encoder included', (seconds, frames) =>
    expect(mp3Frames(seconds)).toBe(frames),
  );
});

describe('mp3SizeBytes', () => {
  it('is the tag and 576 bytes a frame', () => {
    expect(mp3SizeBytes(10, silent)).toBe(418 * 576);
    const text = { title: 'Song', artist: 'Singer' };
    expect(mp3SizeBytes(10, text)).toBe(id3Tag(text).length + 418 * 576);
  });

  it('is unknown beyond what can be counted', () => expect(mp3SizeBytes(1e13, silent)).toBeUndefined());
});

describe('id3Tag', () => {
  it('holds title and artist as ID3v2.3 in UTF-16', () => {
    const tag = id3Tag({ title: 'Ü 🎵', artist: 'B' });
    expect(tag.subarray(0, 6)).toEqual(Buffer.from('ID3\x03\0\0', 'latin1'));
    expect(tag.subarray(6, 10)).toEqual(Buffer.from([0, 0, 0, tag.length - 10]));
    expect(tag.toString('latin1', 10, 14)).toBe('TIT2');
    expect(tag.readUInt32BE(14)).toBe(3 + 8);
    expect(tag.subarray(20, 23)).toEqual(Buffer.from([1, 0xff, 0xfe]));
    expect(tag.toString('utf16le', 23, 31)).toBe('Ü 🎵');
    expect(tag.toString('latin1', 31, 35)).toBe('TPE1');
  });

  it.each([
    [null, null],
    ['', ' '],
    ['\0\n', null],
  ])('%j and %j leave nothing to say', (title, artist) => expect(id3Tag({ title, artist })).toHaveLength(0));

  it('cleans control characters and halves of characters', () =>
    expect(id3Tag({ title: 'a\r\n\0b\ud83c', artist: null })).toEqual(id3Tag({ title: 'a b\ufffd', artist: null })));

  it('is bounded, and does not cut a character in two', () => {
    const tag = id3Tag({ title: `a${'🎵'.repeat(100_000)}`, artist: 'x'.repeat(1_000_000) });
    expect(tag).toHaveLength(10 + 10 + 3 + 249 * 2 + 10 + 3 + 250 * 2);
    expect(tag.subarray(6, 10)).toEqual(Buffer.from([0, 0, (tag.length - 10) >> 7, (tag.length - 10) & 0x7f]));
  });
});
