import { describe, expect, it } from 'vitest';
import { FULL_TAG_BYTES, fullId3Tag, id3Tag, id3TagBytes, MAX_COVER_BYTES } from '../../../core/media/id3/id3-tag.ts';

describe('id3Tag', () => {
  it('writes title and artist as ID3v2.3 in UTF-16', () => {
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
  ])('is empty for the title %j and the artist %j', (title, artist) =>
    expect(id3Tag({ title, artist })).toHaveLength(0),
  );

  it('removes control characters and lone surrogates', () =>
    expect(id3Tag({ title: 'a\r\n\0b\ud83c', artist: null })).toEqual(id3Tag({ title: 'a b\ufffd', artist: null })));

  it('bounds each text without splitting a surrogate pair', () => {
    const tag = id3Tag({ title: `a${'🎵'.repeat(100_000)}`, artist: 'x'.repeat(1_000_000) });
    expect(tag).toHaveLength(10 + 10 + 3 + 249 * 2 + 10 + 3 + 250 * 2);
    expect(tag.subarray(6, 10)).toEqual(Buffer.from([0, 0, (tag.length - 10) >> 7, (tag.length - 10) & 0x7f]));
  });
});

describe('fullId3Tag', () => {
  const long = 'x'.repeat(10_000);

  it.each([
    ['no text at all', { title: null, artist: null }, undefined],
    [
      'the longest texts and cover',
      { title: long, artist: long, album: long, date: long, trackNumber: 9999, link: 'l'.repeat(1000) },
      Buffer.alloc(MAX_COVER_BYTES, 0xff),
    ],
  ])('has the same length with %s', (_, text, cover) => {
    const tag = fullId3Tag(text, cover);
    expect(tag).toHaveLength(FULL_TAG_BYTES);
    expect(id3TagBytes(tag)).toBe(FULL_TAG_BYTES);
    if (cover) expect(tag.includes(cover)).toBe(true);
  });

  it('leaves out a longer link and a larger cover instead of cutting them', () => {
    const tag = fullId3Tag(
      { title: 'a', artist: null, link: 'l'.repeat(1001) },
      Buffer.alloc(MAX_COVER_BYTES + 1, 0xff),
    );
    expect(tag.equals(fullId3Tag({ title: 'a', artist: null }))).toBe(true);
  });

  it.each([
    ['2026-11-22', '2026', '2211'],
    ['2026', '2026', undefined],
  ])('writes the date %s as TYER and TDAT', (date, year, day) => {
    const tag = fullId3Tag({ title: null, artist: null, date });
    const textOf = (id: string) => {
      const at = tag.indexOf(id, 0, 'latin1');
      return at < 0 ? undefined : tag.toString('utf16le', at + 13, at + 10 + tag.readUInt32BE(at + 4));
    };
    expect([textOf('TYER'), textOf('TDAT')]).toEqual([year, day]);
  });
});

describe('id3TagBytes', () => {
  it.each([
    ['a short tag', id3Tag({ title: 'Song', artist: null })],
    ['a size of more than seven bits', id3Tag({ title: 'x'.repeat(200), artist: 'y'.repeat(200) })],
  ])('reads %s, header included', (_, tag) =>
    expect(id3TagBytes(Buffer.concat([tag, Buffer.alloc(100)]))).toBe(tag.length),
  );

  it.each([
    ['other bytes', Buffer.alloc(100)],
    ['an incomplete header', Buffer.from('ID3\x03\0\0\0\0\0', 'latin1')],
  ])('returns 0 for %s', (_, head) => expect(id3TagBytes(head)).toBe(0));
});
