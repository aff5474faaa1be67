import { parse } from 'content-disposition';
import { describe, expect, it } from 'vitest';
import { contentDisposition, fileName } from '../../../stream-service/outputs/file-name.ts';

describe('fileName', () => {
  it.each([
    [0, 25, 'Song (0-00–0-25).mp4'],
    [10.5, 3725.25, 'Song (0-10.5–1-02-05.25).mp4'],
    [5.0001, 9.9999, 'Song (0-05–0-10).mp4'],
    [65, Number.POSITIVE_INFINITY, 'Song (1-05–).mp4'],
  ])('names a clip from %d to %d', (startSeconds, endSeconds, name) => {
    expect(fileName({ title: 'Song', author: null, clip: { startSeconds, endSeconds } }, '.mp4')).toBe(name);
  });

  it('keeps the times of a clip with a long title within 255 bytes', () => {
    const clip = { startSeconds: 3_600.123, endSeconds: 999_999.999 };
    const name = fileName({ title: '🎵'.repeat(300), author: null, clip }, '.mp4');
    expect(name).toMatch(/🎵 \(1-00-00\.123–277-46-39\.999\)\.mp4$/u);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  });

  it.each([
    ['Song', 'Artist', 'Artist - Song.mp4'],
    ['Song', null, 'Song.mp4'],
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

  it('fits any file system for very long titles', () => {
    const name = fileName({ title: '𝕬'.repeat(5000), author: null }, '.mp4');
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
    expect(name).toMatch(/^(?:𝕬)+\.mp4$/u);
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
