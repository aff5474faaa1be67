import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACCESS_HEADER, createAccessControl } from '../../../core/http/client.ts';
import type { Resource, Subtitle } from '../../../core/state/resource.ts';
import { languageLabel, libraryFolder, libraryName } from '../../../stream-service/outputs/archive/library-names.ts';
import { runProgram, withTemporaryFolder } from '../../support/media-tools.ts';
import { sendRequest } from '../../support/request.ts';
import { resourceOf, trackOf } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';
import { URL_OF_LIST, useArchives } from './archive-fixture.ts';

const BASE = { baseUrl: 'https://reelay.example' };
const start = useArchives();

/** The files of a ZIP by their paths, as `unzip` makes them. */
const unzip = (body: Buffer): Promise<Map<string, Buffer>> =>
  withTemporaryFolder(async (folder) => {
    await writeFile(join(folder, 'library.zip'), body);
    const out = join(folder, 'out');
    const { code, output } = await runProgram('unzip', ['-q', join(folder, 'library.zip'), '-d', out]);
    if (code !== 0) throw new Error(output);
    const found = await readdir(out, { recursive: true, withFileTypes: true });
    const paths = found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
    const files = paths.toSorted().map(async (path) => [path.slice(out.length + 1), await readFile(path)] as const);
    return new Map(await Promise.all(files));
  });

const getLibrary = async (url: string) => {
  const { headers, body } = await sendRequest(url);
  return { headers, body, files: await unzip(body) };
};
const textOf = (files: ReadonlyMap<string, Buffer>, path: string) => files.get(path)?.toString() ?? `No ${path}`;

const itemOf = (entryId: string, traits: Partial<Resource> = {}): Partial<Resource> => ({
  origin: { url: `https://site.example/${entryId}`, extractor: 'Youtube', entryId },
  ...traits,
});
const SRT = '1\n00:00:01,000 --> 00:00:02,500\nHello\n';
const subtitleOf = (language: string, isAutomatic = false): Subtitle => ({
  ...{ id: `${isAutomatic ? 'auto' : 'sub'}-${language}`.padEnd(11, '_'), formatId: `${language}-${isAutomatic}` },
  ...{ language, isAutomatic },
});
const subtitleTrack = ({ formatId }: Subtitle) => trackOf(formatId, { container: 'srt', video: null, audio: null });

describe('a library', () => {
  it('has a folder for each item with a link, metadata, cover and subtitles, and names what is missing', async () => {
    const [byPeople, automatic, dead] = [subtitleOf('en'), subtitleOf('en', true), subtitleOf('fr')];
    const hostile = itemOf('id-1', {
      ...{ title: 'A & <b> ]]>\u0000\u0008', coverUrl: 'https://site.example/c.jpg?a=1&b="2"' },
      ...{ durationSeconds: 90, subtitles: [automatic, byPeople, dead] },
      details: { description: 'First\n</plot>\u001b\ufffe', uploadDate: '2026-11-20', tags: ['x & y'] },
      tracks: [trackOf('file-0'), ...[byPeople, automatic, dead].map(subtitleTrack)],
    });
    const { url } = await start(
      [{ resource: hostile }, { resource: { isLive: true } }, { resource: itemOf('id-3', { author: null }) }],
      {
        list: BASE,
        attachments: new Map([[`${'r0'.padEnd(22, '_')}cover`, Buffer.from('ffd8ff', 'hex')]]),
        sources: {
          [byPeople.formatId]: fileSource(Buffer.from(SRT)),
          [dead.formatId]: fileSource(Buffer.from('no subtitles')),
        },
      },
    );
    const { headers, files } = await getLibrary(url('?format=strm&quality=1080p&audio=all'));
    const { 'content-type': type, 'content-length': length, 'accept-ranges': ranges } = headers;
    expect([type, length, ranges]).toEqual(['application/zip', undefined, 'none']);
    expect(headers['content-disposition']).toContain('filename="A list.zip"');
    const name = 'Someone - A & b ]] [id-1]';
    const first = `A list (library)/${name}`;
    const third = 'A list (library)/Title 2 [id-3]/Title 2 [id-3]';
    const ofFirst = ['.en.srt', '-poster.jpg', '.nfo', '.strm'].map((end) => `${name}${end}`);
    expect([...files.keys()]).toEqual(
      [
        ...[...ofFirst, 'folder.jpg'].map((file) => `${first}/${file}`),
        ...[`${third}.nfo`, `${third}.strm`, 'A list (library)/index.txt'],
      ].toSorted(),
    );
    expect(textOf(files, `${first}/${name}.strm`)).toBe(
      'https://reelay.example/api/Get?url=https%3A%2F%2Fsite.example%2F0&quality=1080p&audio=all\n',
    );
    expect(textOf(files, `${first}/${name}.en.srt`)).toContain('Hello');
    expect(files.get(`${first}/folder.jpg`)?.toString('hex', 0, 3)).toBe('ffd8ff');
    expect(textOf(files, 'A list (library)/index.txt')).toContain('MISSING: Unsupported Media Type. The entry is live');
    expect(textOf(files, `${first}/${name}.nfo`)).toBe(
      '<?xml version="1.0" encoding="UTF-8"?>\n<movie><title>A &amp; &lt;b&gt; ]]&gt;</title>' +
        '<plot>First\n&lt;/plot&gt;</plot><studio>Someone</studio><premiered>2026-11-20</premiered><runtime>2</runtime>' +
        '<uniqueid type="youtube" default="true">id-1</uniqueid><tag>x &amp; y</tag>' +
        '<thumb aspect="poster">https://site.example/c.jpg?a=1&amp;b=&quot;2&quot;</thumb><lockdata>true</lockdata></movie>\n',
    );
    for (const path of [`${first}/${name}.nfo`, `${third}.nfo`]) {
      const checked = await withTemporaryFolder(async (folder) => {
        await writeFile(join(folder, 'item.nfo'), files.get(path) ?? '');
        return runProgram('xmllint', ['--noout', join(folder, 'item.nfo')]);
      });
      expect(checked).toEqual({ code: 0, output: '' });
    }
  });

  it('has a length where nothing has to be fetched, as covers that were', async () => {
    const attachments = new Map([[`${'r0'.padEnd(22, '_')}cover`, Buffer.from('a picture')]]);
    const withCover = { resource: itemOf('a', { coverUrl: 'https://site.example/c' }) };
    const { url } = await start([withCover, {}], { list: BASE, attachments });
    const { headers, body, files } = await getLibrary(url('?format=strm'));
    expect(headers['content-length']).toBe(String(body.length));
    expect([...files.keys()].filter((path) => path.endsWith('.jpg'))).toHaveLength(2);
    const head = await sendRequest(url('?format=strm'), { method: 'HEAD' });
    expect(head.headers['content-length']).toBe(String(body.length));
    expect((await sendRequest(url('?format=strm'), { headers: { range: 'bytes=9-' } })).status).toBe(200);
    const { url: unread } = await start([withCover, {}], { list: BASE });
    expect((await sendRequest(unread('?format=strm'))).headers['content-length']).toBeUndefined();
  });

  it('signs its links where the instance is private', async () => {
    const { url } = await start([{}], { list: BASE });
    const hash = 'ab'.repeat(32);
    const { body } = await sendRequest(url('?format=strm'), { headers: { [ACCESS_HEADER]: hash } });
    const [, text = ''] = [...(await unzip(body))].find(([path]) => path.endsWith('.strm')) ?? [];
    const { searchParams } = new URL(String(text));
    const link = searchParams.get('url') ?? '';
    expect(createAccessControl([hash]).verifyLink(link, searchParams.get('access') ?? '')).toEqual({ key: link, hash });
  });

  it('leaves a cover out that cannot be read, and entries that have no link of their own', async () => {
    const { url } = await start(
      [{ resource: itemOf('a', { coverUrl: 'https://site.example/c' }) }, { entry: { url: URL_OF_LIST } }],
      { list: BASE, sources: { cover: fileSource(Buffer.from('<html>')) } },
    );
    const { files } = await getLibrary(url('?format=strm'));
    expect([...files.keys()].map((path) => path.replace(/^.*\//, ''))).toEqual([
      ...['Someone - Title 0 [a].nfo', 'Someone - Title 0 [a].strm', 'index.txt'],
    ]);
    expect(textOf(files, 'A list (library)/index.txt')).toContain('has no link of its own');
  });

  it('is 400 by the key of an archive of files', async () => {
    const { url } = await start([{}]);
    const { status, body } = await sendRequest(url('?format=strm'));
    const detail = 'format=strm needs the key that Get answers for it.';
    expect([status, JSON.parse(body.toString()).detail]).toEqual([400, detail]);
  });
});

describe('the names of a library', () => {
  const nameOf = (title: string | null, traits: Partial<Resource> = {}, copy = 1) =>
    libraryName(resourceOf([], itemOf('dQw4w9WgXcQ', { author: null, title, ...traits })), copy);
  const id = 'k'.repeat(22);
  const origin = { url: 'https://site.example/x', extractor: 'Generic', entryId: 'clip' };

  it.each<[string | null, Partial<Resource>, number, string]>([
    ['Title', {}, 1, 'Title [dQw4w9WgXcQ]'],
    ['Title', {}, 2, 'Title [dQw4w9WgXcQ] (2)'],
    ['con', {}, 1, 'con_ [dQw4w9WgXcQ]'],
    ['../..\\a:b', {}, 1, 'a b [dQw4w9WgXcQ]'],
    [null, {}, 1, 'media [dQw4w9WgXcQ]'],
    ['Clip', { id, origin }, 1, 'Clip [kkkkkkkkkk]'],
    ['Clip', { id, origin: { ...origin, extractor: 'Site', entryId: '../x' } }, 1, 'Clip [kkkkkkkkkk]'],
  ])('%s of %j, copy %i, is %s', (title, traits, copy, name) => expect(nameOf(title, traits, copy)).toBe(name));

  it('number an item that a list has twice', async () => {
    const { url } = await start([{}, { entry: { resourceId: 'r0'.padEnd(22, '_') } }], { list: BASE });
    const links = [...(await getLibrary(url('?format=strm'))).files.keys()].filter((path) => path.endsWith('.strm'));
    expect(links.map((path) => path.includes('] (2)/'))).toEqual([true, false]);
  });

  // What Kodi excludes (`excludefromscan`), what Jellyfin ignores, takes for a picture in 3D or for another kind of folder, and its extras.
  const SIGNS = [
    ...[/-trailer/i, /[!-._ \\/]sample[-._ \\/]/i, /[\\/](proof|subs)[\\/]/i, /\bsample\b/i, /\[(playlist|boxset)\]/i],
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
    const path = `/media/${libraryFolder({ title, author: null })}/${nameOf(title)}/${nameOf(title)}`;
    expect(SIGNS.filter((sign) => sign.test(`${path}.strm`))).toEqual([]);
    expect(Buffer.byteLength(`${path}.zh-Hans-CN.zh.srt`)).toBeLessThan(240);
  });

  it.each([
    ...['en', 'pt-BR', 'zh-Hans', 'fil', 'live_chat', 'English'].map((language) => [language, language]),
    ...[
      ['en-US', 'en-US.en'],
      ['sr-Latn', 'sr-Latn.sr'],
      ['en_GB', 'en_GB.en'],
      ['iw', 'iw.he'],
    ],
  ])('have a language that Jellyfin knows: %s as %s', (language, label) => expect(languageLabel(language)).toBe(label));
});
