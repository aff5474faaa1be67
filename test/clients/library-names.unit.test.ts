import { describe, expect, it } from 'vitest';
import { safeFileName } from '../../clients/reelay-client/src/files/index.ts';
import { languageLabel, libraryName } from '../../clients/reelay-client/src/folder/library.ts';

const LINK = 'https://site.example/1';
const nameOf = (title: string | null, author: string | null = null) => libraryName({ title, author }, LINK);

describe('the names of a library', () => {
  it.each<[string | null, string | null, string]>([
    ['Title', null, 'Title [e807b7a716]'],
    ['Title', 'Someone', 'Someone - Title [e807b7a716]'],
    ['Someone sings', 'Someone', 'Someone sings [e807b7a716]'],
    ['../..\\a:b', null, 'a b [e807b7a716]'],
    ['a\u202eb\u0000c 100%', null, 'a b c 100 [e807b7a716]'],
    [null, null, 'media [e807b7a716]'],
  ])('%s by %s is %s', (title, author, name) => expect(nameOf(title, author)).toBe(name));

  it('are valid in every file system, as the state of a folder requires', () => {
    const names = ['Con. A documentary', 'aux', 'Nul.', 'é'.repeat(300), '\u200eTitle.'].map((title) => nameOf(title));
    expect(names.map(safeFileName)).toEqual(names);
  });

  it('tell items of the same title apart', () =>
    expect(libraryName({ title: 'Title', author: null }, `${LINK}1`)).not.toBe(nameOf('Title')));

  // What Kodi excludes (`excludefromscan`), what Jellyfin ignores, takes for a picture in 3D or for another kind of folder, and its extras.
  const SIGNS = [
    /-trailer/i,
    /[!-._ \\/]sample[-._ \\/]/i,
    /[\\/](proof|subs)[\\/]/i,
    /\bsample\b/i,
    /\[(playlist|boxset)\]/i,
    /[-._ ()[\]]([fh]?sbs|[fh]?tab|sbs3d|mvc)[-._ ()[\]]/i,
    /[-._ ](trailer|sample|scene|clip|interview|behindthescenes|deleted|deletedscene|featurette|short|extra|other)[./]/i,
    /\/(behind the scenes|deleted scenes|interviews|scenes|samples|shorts|featurettes|clips|other|extras|trailers)\//i,
    /\/[. ]|[. ](\/|\.strm$)|[<>:"\\|?*%]/,
  ];

  it.each([
    ...['Trailer', 'Dune - Trailer', 'Dune-trailer', 'Sample', 'Free sample pack', 'a.sample.b', 'Subs', 'x -clip'],
    ...['Shorts', 'Trailers', 'Behind the Scenes', 'Extras', 'é'.repeat(300), '🎵'.repeat(90), ' . ', '-sample-'],
    ...['[SBS] News', 'Guitar tab', 'mvc', '3D HSBS', '[Playlist] Calm', 'samples', 'table of subs'],
  ])('of %s are no sign to Jellyfin or Kodi, and are short', (title) => {
    const path = `/media/${nameOf(title)}/${nameOf(title)}`;
    expect(SIGNS.filter((sign) => sign.test(`${path}.strm`))).toEqual([]);
    expect(Buffer.byteLength(`${path}.zh-Hans-CN.zh.srt`)).toBeLessThan(180);
  });

  it.each([
    ['en', 'en'],
    ['pt-BR', 'pt-BR'],
    ['zh-Hans', 'zh-Hans'],
    ['fil', 'fil'],
    ['live_chat', 'live_chat'],
    ['English', 'English'],
    ['en-US', 'en-US.en'],
    ['sr-Latn', 'sr-Latn.sr'],
    ['en_GB', 'en_GB.en'],
    ['iw', 'iw.he'],
  ])('have a language that Jellyfin knows: %s as %s', (language, label) => expect(languageLabel(language)).toBe(label));
});
