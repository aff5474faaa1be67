import { describe, expect, it } from 'vitest';
import {
  FULL_TAG_BYTES,
  fullId3Tag,
  id3Tag,
  id3TagBytes,
  MAX_COVER_BYTES,
  type RecordingText,
} from '../src/tags/id3.ts';

const NOTHING: RecordingText = { title: null, artist: null };

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
    ['no text at all', NOTHING, undefined],
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
    expect(tag.equals(fullId3Tag({ ...NOTHING, title: 'a' }))).toBe(true);
  });

  it.each([
    ['2026-11-22', '2026', '2211'],
    ['2026', '2026', undefined],
    ['2026-11', '2026', undefined],
    [undefined, undefined, undefined],
  ])('writes the date %s as TYER and TDAT', (date, year, day) => {
    const tag = fullId3Tag({ ...NOTHING, date });
    const textOf = (id: string) => {
      const at = tag.indexOf(id, 0, 'latin1');
      return at < 0 ? undefined : tag.toString('utf16le', at + 13, at + 10 + tag.readUInt32BE(at + 4));
    };
    expect([textOf('TYER'), textOf('TDAT')]).toEqual([year, day]);
  });
});

describe('the frames of a full tag', () => {
  const cover = Buffer.from([0xff, 0xd8, 1, 2]);
  const latin1 = (text: string) => Buffer.from(text, 'latin1');
  /** UTF-16 with a byte order mark, after the byte that says so (ID3v2.3 §3.3). */
  const utf16 = (text: string) => Buffer.concat([Buffer.from([1, 0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
  const textFrames: [string, RecordingText][] = [
    ['TIT2', { ...NOTHING, title: 'é' }],
    ['TPE1', { ...NOTHING, artist: 'é' }],
    ['TALB', { ...NOTHING, album: 'é' }],
  ];

  it.each<[string, RecordingText, Buffer, Buffer | undefined]>([
    ...textFrames.map(([id, text]): [string, RecordingText, Buffer, undefined] => [id, text, utf16('é'), undefined]),
    ['TRCK', { ...NOTHING, trackNumber: 12 }, utf16('12'), undefined],
    ['APIC', NOTHING, Buffer.concat([latin1('\0image/jpeg\0\x03\0'), cover]), cover],
    [
      'COMM',
      { ...NOTHING, link: 'https://a.example/' },
      Buffer.concat([
        Buffer.from([1]),
        latin1('eng'),
        Buffer.from([0xff, 0xfe, 0, 0]),
        utf16('https://a.example/').subarray(1),
      ]),
      undefined,
    ],
  ])('%s has its bytes of ID3v2.3', (id, text, body, picture) => {
    const header = Buffer.alloc(10);
    header.write(id, 'latin1');
    header.writeUInt32BE(body.length, 4);
    const tag = Buffer.alloc(FULL_TAG_BYTES);
    Buffer.concat([latin1('ID3\x03\0\0'), Buffer.from([0, 3, 0x7f, 0x76]), header, body]).copy(tag);
    expect(fullId3Tag(text, picture).equals(tag)).toBe(true);
  });

  it.each<[string, RecordingText]>([
    ['track 0', { title: 'a', artist: null, trackNumber: 0 }],
    ['an empty link', { title: 'a', artist: null, link: '' }],
    ['an empty date', { title: 'a', artist: null, date: '' }],
  ])('are absent for %s', (_, text) =>
    expect(fullId3Tag(text).equals(fullId3Tag({ ...NOTHING, title: 'a' }))).toBe(true),
  );

  it('include a link of a thousand characters', () =>
    expect(fullId3Tag({ ...NOTHING, link: 'l'.repeat(1000) }).includes('COMM')).toBe(true));
});

describe('id3TagBytes', () => {
  it('counts the footer of ID3v2.4', () =>
    expect(id3TagBytes(Buffer.from('ID3\x04\0\x10\0\0\x01\x02', 'latin1'))).toBe(10 + 130 + 10));

  it.each([
    ['a header alone', Buffer.from('ID3\x03\0\0\0\0\0\0', 'latin1')],
    ['a short tag', id3Tag({ title: 'Song', artist: null })],
    ['a size of more than seven bits', id3Tag({ title: 'x'.repeat(200), artist: 'y'.repeat(200) })],
  ])('reads %s, header included', (_, tag) =>
    expect([tag, Buffer.concat([tag, Buffer.alloc(100)])].map(id3TagBytes)).toEqual([tag.length, tag.length]),
  );

  it.each([
    ['other bytes', Buffer.alloc(100)],
    ['nine bytes of a header', Buffer.from('ID3\x03\0\0\0\0\x01', 'latin1')],
    ['an incomplete header', Buffer.from('ID3\x03\0\0\0\0\0', 'latin1')],
  ])('returns 0 for %s', (_, head) => expect(id3TagBytes(head)).toBe(0));
});
