import { parse } from 'content-disposition';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentDisposition, fileName, listFileNames, namingAs } from '../../../core/http/file-name.ts';

describe('fileName', () => {
  it.each([
    [0, 25, 'Song (0-00–0-25).mp4'],
    [10.5, 3725.25, 'Song (0-10.5–1-02-05.25).mp4'],
    [5.0001, 9.9999, 'Song (0-05–0-10).mp4'],
    [65, Number.POSITIVE_INFINITY, 'Song (1-05–).mp4'],
  ])('names a clip from %d to %d', (startSeconds, endSeconds, name) => {
    expect(fileName({ title: 'Song', author: null, clip: { startSeconds, endSeconds } }, '.mp4')).toBe(name);
  });

  it('names the moment at which a part of a live stream was recorded', () =>
    expect(fileName({ title: 'Song', author: null, recordedAtMs: Date.UTC(2026, 10, 23, 20, 0, 5) }, '.mp4')).toBe(
      'Song (2026-11-23 20-00-05Z).mp4',
    ));

  it.each([
    [9, 'List/07 - A - B.mp3'],
    [1000, 'List/0007 - A - B.mp3'],
  ])('numbers the files of a list that ends with %d', (lastNumber, path) => {
    const { folder, pathOf } = listFileNames({ title: 'List', author: null }, lastNumber);
    expect([folder, pathOf(7, { title: 'B', author: 'A' }, '.mp3')]).toEqual(['List', path]);
  });

  it('keeps the times of a clip with a long title within 200 bytes', () => {
    const clip = { startSeconds: 3_600.123, endSeconds: 999_999.999 };
    const name = fileName({ title: '🎵'.repeat(300), author: null, clip }, '.mp4');
    expect(name).toMatch(/🎵 \(1-00-00\.123–277-46-39\.999\)\.mp4$/u);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
  });

  it.each([
    ['Title (1080p)', 'Title (1080p).mp4'],
    ['Title (1080p: 0-10–0-25.5)', 'Title (1080p 0-10–0-25.5).mp4'],
    ['Title.mp4 (1080p)', 'Title (1080p).mp4'],
    ['(1080p)', '(1080p).mp4'],
    ['Title (', 'Title (.mp4'],
  ])('is as it was asked for: %s', (asked, name) => expect(fileName(namingAs(asked), '.mp4')).toBe(name));

  it.each(['🎬'.repeat(200), '動画の題名 '.repeat(60), 'several words '.repeat(30)])(
    'keeps what is in brackets at the end of a name that it cuts: %.9s',
    (title) => {
      const name = fileName(namingAs(`03 - ${title} (129 kbps German dubbed)`), '.m4a');
      expect(name).toMatch(/^03 - .{20,}\S \(129 kbps German dubbed\)\.m4a$/u);
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
    },
  );

  it.each([
    ['Song', 'Artist', 'Artist - Song.mp4'],
    ['Song', null, 'Song.mp4'],
    ['Song.MP4', 'Artist', 'Artist - Song.mp4'],
    ['Song.mov', null, 'Song.mov.mp4'],
    ['.mp4', null, 'mp4.mp4'],
    [null, 'Artist', 'Artist.mp4'],
    [null, null, 'media.mp4'],
    ['  ', '', 'media.mp4'],
    ['AC/DC: "Live" <1>|2?*', null, 'AC DC Live 1 2.mp4'],
    ['../../etc/passwd', null, 'etc passwd.mp4'],
    ['a\r\nSet-Cookie: x', null, 'a Set-Cookie x.mp4'],
    ['invoice\u202Egpj.exe', null, 'invoice gpj.exe.mp4'],
    ['NUL', null, 'NUL_.mp4'],
    ['...', null, 'media.mp4'],
    ['NUL.txt', null, 'NUL_.txt.mp4'],
    ['con .tar', null, 'con_ .tar.mp4'],
    ['com¹', null, 'com¹_.mp4'],
    ['LPT³.a.b', null, 'LPT³_.a.b.mp4'],
    ['CONIN$', null, 'CONIN$_.mp4'],
    ['console', null, 'console.mp4'],
    ['com10', null, 'com10.mp4'],
    ['Title. . .', null, 'Title.mp4'],
    ['👩\u200d💻 می\u200cخواهم', null, '👩\u200d💻 می\u200cخواهم.mp4'],
    ['\u200d. \u200d', null, 'media.mp4'],
    ['half \ud800 pair', null, 'half pair.mp4'],
    ['Été 🎵', 'Björk', 'Björk - Été 🎵.mp4'],
    ['Artist - Song', 'Artist', 'Artist - Song.mp4'],
    ['ARTIST: Song', 'artist', 'ARTIST Song.mp4'],
    ['Song (live) by The Artist', 'the  artist', 'Song (live) by The Artist.mp4'],
    ['Bjo\u0308rk - Song', 'Bj\u00f6rk', 'Björk - Song.mp4'],
    ['Artistic', 'Artist', 'Artist - Artistic.mp4'],
    ['An art ist', 'Artist', 'Artist - An art ist.mp4'],
    ['Song', '!!!', '!!! - Song.mp4'],
    ['Été', 't', 't - Été.mp4'],
    ['Artist', 'Artist', 'Artist.mp4'],
  ])('names %j by %j %j', (title, author, name) => expect(fileName({ title, author }, '.mp4')).toBe(name));

  it.each([
    ['of 200 bytes as it is', 'x'.repeat(196), 'x'.repeat(196)],
    ['between words', 'word '.repeat(60), `${'word '.repeat(38)}word`],
    ['before a separator and an opening bracket', `${'x'.repeat(184)} - (something)`, 'x'.repeat(184)],
    ['within a word that leaves little else', `A ${'x'.repeat(300)}`, `A ${'x'.repeat(194)}`],
    ['between words without spaces', '東京タワー'.repeat(20), `${'東京タワー'.repeat(13)}`],
    ['between characters of several code points', '👩\u200d💻'.repeat(50), '👩\u200d💻'.repeat(17)],
    ['between letters and not before their accents', 'e\u0302\u0323'.repeat(150), 'ệ'.repeat(65)],
  ])('cuts a long name %s', (_, title, name) => expect(fileName({ title, author: null }, '.mp4')).toBe(`${name}.mp4`));

  it.each([
    ['is not cut where it fits exactly', 'one two', 11, 'one two.mp4'],
    ['is cut between words', 'one two', 10, 'one.mp4'],
    ['is cut within a word that takes more than half', 'a bcdefghij', 10, 'a bcde.mp4'],
  ])('%s', (_, title, maxBytes, name) => expect(fileName({ title, author: null }, '.mp4', maxBytes)).toBe(name));

  it('fits any file system whatever it is made of', () => {
    const text = fc.array(fc.constantFrom('𝕬', 'é', 'e\u0301', 'word', ' ', ' - ', '.', '日本', '🏳️‍🌈', 'con'), {
      maxLength: 80,
    });
    fc.assert(
      fc.property(text, text, fc.integer({ min: 40, max: 200 }), (title, author, maxBytes) => {
        const name = fileName({ title: title.join(''), author: author.join('') }, '.mp4', maxBytes);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(maxBytes);
        expect(name).toMatch(/^[^. ](?:.*[^. ])?\.mp4$/u);
        expect(name.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('contentDisposition', () => {
  it('has an ASCII name beside the full one', () => {
    expect(contentDisposition({ title: 'Été 🎵', author: 'Björk' }, '.mp3')).toBe(
      `attachment; filename="Bjork - Ete _.mp3"; filename*=UTF-8''Bj%C3%B6rk%20-%20%C3%89t%C3%A9%20%F0%9F%8E%B5.mp3`,
    );
  });

  it('always quotes the ASCII name', () => {
    expect(contentDisposition({ title: 'clip', author: null }, '.mp4')).toBe(
      `attachment; filename="clip.mp4"; filename*=UTF-8''clip.mp4`,
    );
  });

  it.each(['"; x="', '\\"\\', '%22%0d%0a', "UTF-8''x", '名前', '\u0000'])('encodes %j', (title) => {
    const { type, parameters } = parse(contentDisposition({ title, author: null }, '.mp4'));
    expect(type).toBe('attachment');
    expect(parameters.filename).toBe(fileName({ title, author: null }, '.mp4'));
  });
});
