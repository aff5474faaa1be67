import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { EXIT_CODES, reportSync } from '../../clients/reelay-client/src/cli/run.ts';
import { type SyncOptions, syncList } from '../../clients/reelay-client/src/folder/index.ts';
import { type Client, createClient, ReelayError } from '../../clients/reelay-client/src/index.ts';
import { useTarget } from '../contract/target.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const target = useTarget();
const LINK = 'https://list.example/';
const LIBRARY = { isLibrary: true };

let folder = '';
/** The list, which is that of the test: the service reads its entries alone. */
let items: { title: string; requestedUrl: string }[] = [];
let playlist = '';
/** Bodies of streams that were requested. */
let streams = 0;
const at = (title: string, path: string) => ({ title, requestedUrl: target.origin.url(path) });
const entry = (title: string, file: string) => at(title, `/files/${file}`);
const live = () => at('Now', '/live/index.m3u8');
beforeEach(async () => {
  folder = join(await temporaryFolder(), 'a', 'list');
  items = [entry('One', 'clip.mp4'), entry('Two', 'silent.mp4')];
  playlist = 'listed=2, total=2';
  streams = 0;
});

function clientOf(changes: Partial<Client> = {}): Client {
  const counted: typeof fetch = (url, init) => {
    if (String(url).includes('/api/Stream/') && init?.method !== 'HEAD') streams++;
    return fetch(url, init);
  };
  return {
    ...createClient({ instance: target.baseUrl, fetch: counted }),
    resolve: async (_, { onHeaders } = {}) => {
      onHeaders?.(new Headers({ 'x-playlist': playlist }));
      return { type: 'PlayList', mediaItems: items } as Awaited<ReturnType<Client['resolve']>>;
    },
    ...changes,
  };
}
const withoutRequests = () => clientOf({ getDetails: () => expect.fail('Requested again') });

/** Runs it as the program does. */
async function sync(options: Partial<SyncOptions> = {}, client = clientOf()) {
  const output = { stdout: '', stderr: '' };
  const writeTo = (name: keyof typeof output) => ({ write: (text: string) => (output[name] += text) });
  const code = await reportSync(
    client,
    { link: LINK, folder, selection: {}, sleep: async () => undefined, ...options },
    { stdout: writeTo('stdout'), stderr: writeTo('stderr'), isQuiet: false, clear: () => undefined },
  );
  return { code, ...output };
}
const pathTo = (name: string) => join(folder, name);
const files = async () => (await readdir(folder)).filter((name) => !name.startsWith('.')).toSorted();
const summary = (fetched: number, there: number, failed = 0, lost = '') =>
  `${fetched} fetched, ${there} there already, ${failed} failed${lost}\n`;

describe('a folder', () => {
  it('receives missing entries only, even when titles or positions in the list change', async () => {
    expect(await sync()).toEqual({
      code: EXIT_CODES.done,
      stdout: `${pathTo('01 - One.mp4')}\n${pathTo('02 - Two.mp4')}\n`,
      stderr: expect.stringMatching(/^\[1\/2\] One: \d+ kB\n\[2\/2\] Two: \d+ kB\n2 fetched/),
    });
    expect(await readdir(folder)).toEqual(['.reelay.json', '01 - One.mp4', '02 - Two.mp4']);
    items = [entry('New', 'tone.m4a'), entry('Second', 'silent.mp4'), entry('First', 'clip.mp4')];
    expect(await sync()).toMatchObject({ code: 0, stderr: expect.stringContaining(summary(1, 2)) });
    expect([await files(), streams]).toEqual([['01 - New.m4a', '01 - One.mp4', '02 - Two.mp4'], 3]);
    const mp3 = await sync({ selection: { quality: 'mp3' } });
    // One of them has no sound.
    expect(mp3).toMatchObject({ code: EXIT_CODES.refused, stderr: expect.stringContaining(summary(2, 0, 1)) });
    expect(await files()).toEqual(['01 - New.m4a', '01 - New.mp3', '01 - One.mp4', '02 - Two.mp4', '03 - First.mp3']);
  });

  it('keeps files whose entries left the list, unless they are to be deleted and the list is complete', async () => {
    await sync();
    items = items.slice(1);
    expect((await sync()).stderr).toBe(summary(0, 1));
    for (const incomplete of ['listed=1, total=9, cut', 'listed=1, unavailable=(1)']) {
      playlist = incomplete;
      expect((await sync({ deletes: true })).stderr).toContain('Nothing was deleted');
    }
    await writeFile(pathTo('own.txt'), '');
    playlist = 'listed=1';
    // Those of another list belong to it.
    expect((await sync({ deletes: true, link: `${LINK}other` })).stderr).toBe(summary(0, 1));
    expect((await sync({ deletes: true })).stderr).toBe(`Deleted ${pathTo('01 - One.mp4')}\n${summary(0, 1)}`);
    expect(await files()).toEqual(['02 - Two.mp4', 'own.txt']);
  });

  it('keeps files that it did not write', async () => {
    items = [entry('Same', 'clip.mp4'), entry('same', 'silent.mp4'), entry('Own', 'clip.mp4?2')];
    await mkdir(folder, { recursive: true });
    await writeFile(pathTo('03 - Own.mp4'), 'mine');
    expect((await sync()).code).toBe(0);
    expect(await files()).toEqual(['01 - Same.mp4', '02 - same.mp4', '03 - Own (2).mp4', '03 - Own.mp4']);
    expect(await readFile(pathTo('03 - Own.mp4'), 'utf8')).toBe('mine');
  });

  it('continues a file that was interrupted, under its first name', async () => {
    items = [entry('Long', 'long.mp4'), entry('One', 'clip.mp4')];
    const interrupted = new AbortController();
    const onProgress: SyncOptions['onProgress'] = ({ receivedBytes }) => {
      if (receivedBytes > 4_000_000) interrupted.abort();
    };
    await expect(sync({ signal: interrupted.signal, onProgress })).rejects.toThrow(/abort/);
    expect(await readdir(folder)).toEqual(['.reelay.json', '01 - Long.mp4.part', '01 - Long.mp4.part.json']);
    items = [entry('Renamed', 'long.mp4'), entry('One', 'clip.mp4')];
    expect((await sync()).stderr).toMatch(/^\[1\/2\] Renamed: 8\.38 MB, [45]\.\d+ MB received earlier\n/);
    expect(await files()).toEqual(['01 - Long.mp4', '02 - One.mp4']);
    const whole = await readFile(join(target.origin.mediaDir, 'long.mp4'));
    expect((await readFile(pathTo('01 - Long.mp4'))).equals(whole)).toBe(true);
  });

  const ESCAPING = { list: 'https://b.example', url: 'https://a.example', selection: '', file: '../../x.mp4' };
  it.each([
    ['cut off', '{"version":1,"files":[{"url"'],
    ['of another form', '{"version":2,"files":{}}'],
    ['with a path', JSON.stringify({ version: 1, files: [ESCAPING] })],
  ])('whose state is %s is rebuilt from its files', async (_, text) => {
    await sync();
    await writeFile(pathTo('.reelay.json'), text);
    streams = 0;
    const { code, stderr } = await sync({ deletes: true });
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^The state of the folder was damaged.*\n0 fetched, 2/)]);
    expect([streams, await files()]).toEqual([0, ['01 - One.mp4', '02 - Two.mp4']]);
    expect((await sync()).stderr).toBe(summary(0, 2));
  });
});

describe('a list with entries that are not available', () => {
  const gone = { number: 1, url: 'https://list.example/1', title: 'Gone one', reason: 'private' };
  const listed = (more: Partial<Client> = {}) =>
    clientOf({
      getDetails: async (link, options) =>
        link === LINK
          ? ({ unavailable: [gone] } as unknown as Awaited<ReturnType<Client['getDetails']>>)
          : createClient({ instance: target.baseUrl }).getDetails(link, options),
      ...more,
    });

  it('says their numbers and reasons, numbers the others as the list does, and succeeds', async () => {
    playlist = 'listed=3, total=4, unavailable=(1)';
    items = [...items, at('Late', '/site/gone/late')];
    const { code, stdout, stderr } = await sync({}, listed());
    expect([code, stdout]).toEqual([EXIT_CODES.done, `${pathTo('02 - One.mp4')}\n${pathTo('03 - Two.mp4')}\n`]);
    const lost = ', 2 not available (1: It is private; 4: The site no longer has it)';
    expect(stderr).toMatch(/^\[1\/4\] Gone one: not available\. It is private\n\[2\/4\] One: /);
    expect(stderr).toContain('\n[4/4] Late: not available. The site no longer has it\n');
    expect(stderr).toContain(summary(2, 0, 0, lost));
    expect((await sync({}, listed())).stderr).toContain(summary(0, 2, 0, lost));
  });

  it('says no reason that the instance does not tell', async () => {
    playlist = 'listed=2, unavailable=(2)';
    const { code, stderr } = await sync(
      {},
      listed({ getDetails: () => Promise.reject(new ReelayError('x', { status: 415 })) }),
    );
    expect(stderr).toContain('[2/3] Not available: not available. No reason is known\n');
    expect(code).toBe(EXIT_CODES.done);
  });
});

describe('a list of several pages', () => {
  /** As an instance reads a list of which it lists two entries at once. */
  const paged = (asked: number[] = []) =>
    clientOf({
      resolve: async (_, { offset = 0, onHeaders } = {}) => {
        asked.push(offset);
        const next = offset + 2 < items.length ? `, cut, next=${offset + 2}` : '';
        onHeaders?.(new Headers({ 'x-playlist': `listed=2${offset ? `, offset=${offset}` : ''}${next}` }));
        return { type: 'PlayList', mediaItems: items.slice(offset, offset + 2) } as Awaited<
          ReturnType<Client['resolve']>
        >;
      },
    });
  beforeEach(() => {
    items = ['One', 'Two', 'Three', 'Four', 'Five'].map((title) => entry(title, `clip.mp4?${title}`));
  });
  const names = (count: number) => items.slice(0, count).map(({ title }, index) => `0${index + 1} - ${title}.mp4`);

  it('is fetched to its end, with the numbers of the list', async () => {
    const asked: number[] = [];
    expect(await sync({}, paged(asked))).toMatchObject({ code: 0, stderr: expect.stringContaining(summary(5, 0)) });
    expect([asked, await files()]).toEqual([[0, 2, 4], names(5)]);
    items = items.slice(0, 4);
    expect((await sync({ deletes: true }, paged())).stderr).toContain(`Deleted ${pathTo('05 - Five.mp4')}`);
  });

  it('is fetched up to a limit, which deletes nothing', async () => {
    const asked: number[] = [];
    await sync({}, paged());
    const { stderr } = await sync({ limit: 3, deletes: true }, paged(asked));
    expect(stderr).toContain(summary(0, 3));
    expect(stderr).toContain('Nothing was deleted');
    expect([asked, await files()]).toEqual([[0, 2], names(5)]);
  });
});

describe('a library', () => {
  const item = (title: string, kind = 'combined') => at(title, `/site/${kind}/${title}`);
  const detailed = (title: string) => item(title, 'small-detailed');
  /** Files by their endings, of each item by its title. */
  const library = async () =>
    Object.fromEntries(
      await Promise.all(
        (await files()).map(async (name) => {
          const endings = (await readdir(pathTo(name))).map((file) => file.replace(name, '')).toSorted();
          return [name.replace(/^.* - | \[\w{10}\]$/g, ''), endings.join(' ')];
        }),
      ),
    );
  const pathOf = async (title: string) => {
    const name = (await files()).find((name) => name.includes(` - ${title} [`)) ?? title;
    return join(folder, name, name);
  };
  const textOf = async (title: string, ending: string) => readFile(`${await pathOf(title)}${ending}`, 'utf8');
  const ALL = '-poster.jpg .de.srt .en.srt .es.srt .fr.srt .nfo .strm folder.jpg';
  const WITHOUT_SUBTITLES = '-poster.jpg .nfo .strm folder.jpg';

  it('has links, metadata, covers and subtitles, and requests nothing again', async () => {
    items = [detailed('One'), item('<Two>')];
    const first = await sync(LIBRARY);
    expect(first.stderr).toMatch(/^\[1\/2\] One: \d+ B\n\[2\/2\] <Two>: \d+ B\n2 fetched/);
    expect([first.code, first.stdout]).toEqual([0, `${await pathOf('One')}.strm\n${await pathOf('Two')}.strm\n`]);
    expect(await library()).toEqual({ One: ALL, Two: WITHOUT_SUBTITLES });
    const links = items.map((one) => `${target.baseUrl}/api/Get?url=${encodeURIComponent(one.requestedUrl)}\n`);
    expect([await textOf('One', '.strm'), await textOf('Two', '.strm')]).toEqual(links);
    expect(await textOf('One', '.nfo')).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<movie><title>One<\/title><plot>First line\n&lt;script&gt;alert\(1\)&lt;\/script&gt;\nLast line<\/plot><studio>.+<\/studio><premiered>2026-03-01<\/premiered><runtime>1<\/runtime><uniqueid type="reelay" default="true">\w{10}<\/uniqueid><tag>music<\/tag><tag>live<\/tag><thumb aspect="poster">http.+<\/thumb><lockdata>true<\/lockdata><\/movie>\n$/,
    );
    expect(await textOf('Two', '.nfo')).toContain('<title>&lt;Two&gt;</title>');
    expect((await sync(LIBRARY, withoutRequests())).stderr).toBe(summary(0, 2));
  });

  it('is updated when options change, files are missing, or metadata is a week old', async () => {
    items = [detailed('One')];
    await sync(LIBRARY);
    const path = await pathOf('One');
    const isWritten = async (options?: Partial<SyncOptions>, client?: Client) =>
      expect((await sync({ ...LIBRARY, ...options }, client)).stdout).toBe(`${path}.strm\n`);
    await isWritten({ selection: { quality: '360p' } }, withoutRequests());
    expect(await textOf('One', '.strm')).toMatch(/&quality=360p\n$/);
    items = items.map((one) => ({ ...one, title: 'Renamed' }));
    for (const file of [`${path}.strm`, `${path}.en.srt`]) await rm(file);
    await isWritten();
    expect(await textOf('One', '.nfo')).toContain('<title>One</title>');
    const eightDaysAgo = Date.now() / 1000 - 8 * 86_400;
    await utimes(`${path}.nfo`, eightDaysAgo, eightDaysAgo);
    await isWritten();
    expect(await textOf('One', '.nfo')).toContain('<title>Renamed</title>');
    // Recognized without the state of the folder, and beside files.
    await rm(pathTo('.reelay.json'));
    items = [detailed('One')];
    await sync(LIBRARY);
    expect(await library()).toEqual({ One: ALL });
    expect((await sync()).stdout).toBe(`${pathTo('One.mp4')}\n`);
  });

  it('removes items whose entries left the list with --delete, but no other files', async () => {
    items = [detailed('One'), item('Two'), item('Three')];
    await sync(LIBRARY);
    await writeFile(join(await pathOf('Two'), '..', 'own.txt'), 'mine');
    items = items.slice(2);
    expect((await sync(LIBRARY)).stderr).toBe(summary(0, 1));
    const { stderr } = await sync({ ...LIBRARY, deletes: true });
    expect(stderr).toMatch(/^Deleted .*One \[\w+\]\nDeleted .*Two \[\w+\]\n0 fetched, 1 there/);
    expect(await library()).toEqual({ Two: 'own.txt', Three: WITHOUT_SUBTITLES });
  });

  it('lacks a cover that cannot be read, and entries that fail', async () => {
    items = [item('One'), live(), { title: 'Shared', requestedUrl: LINK }];
    const { send } = clientOf();
    const withoutCovers: Client['send'] = (to, init) =>
      to.startsWith('/api/Stream/Cover/')
        ? Promise.reject(new ReelayError('site-error', { status: 502 }))
        : send(to, init);
    const { code, stderr } = await sync(LIBRARY, clientOf({ send: withoutCovers }));
    expect([code, await library()]).toEqual([EXIT_CODES.refused, { One: '.nfo .strm' }]);
    expect(stderr).toMatch(/\n\[2\/3\] Now: It is live.+\n\[3\/3\] Shared: Entry has no link of its own.*\n1 f/);
  });
});

describe('an entry that fails', () => {
  it('is reported, does not stop the others, and sets the exit code', async () => {
    const gone = at('Gone', '/site/gone/x');
    items = [gone, live(), entry('One', 'clip.mp4'), { title: 'Shared', requestedUrl: LINK }];
    const { code, stdout, stderr } = await sync();
    expect([code, stdout]).toEqual([EXIT_CODES.refused, `${pathTo('03 - One.mp4')}\n`]);
    expect(stderr).toMatch(
      /^\[1\/4\] Gone: not available\. The site no longer has it\n\[2\/4\] Now: It is live.+\n\[3\/4\] One: .+\n\[4\/4\] Shared: Entry has no link of its own.*\n1 f/,
    );
    items = [entry('One', 'clip.mp4'), at('Broken', '/site/bug/x')];
    const waits: number[] = [];
    const sleep = async (milliseconds: number) => void waits.push(milliseconds);
    expect((await sync({ sleep, maxWaitSeconds: 180 })).code).toBe(EXIT_CODES.temporary);
    expect(waits).toEqual([500, 1000, 2000, 4000]);
  });

  it('ends the run when the others would fail too', async () => {
    const getDetails = () => Promise.reject(new ReelayError('maintenance', { status: 503 }));
    await expect(sync({}, clientOf({ getDetails }))).rejects.toMatchObject({ code: 'maintenance' });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a folder that cannot be used', () => {
  it.each(['', '/list'])('is refused: FILE%s', async (path) => {
    const file = join(await temporaryFolder(), 'file');
    await writeFile(file, 'mine');
    const message = expect.stringMatching(/cannot be written: it is not a folder$/);
    await expect(sync({ folder: file + path })).rejects.toMatchObject({ code: 'not-writable', message });
    expect(await readFile(file, 'utf8')).toBe('mine');
  });

  it('is refused while another process updates it, and taken over from one that has ended', async () => {
    const held = Promise.withResolvers<string>();
    const locate = () => held.promise;
    const first = syncList(clientOf({ locate }), { link: LINK, folder, selection: {} });
    const lock = pathTo('.reelay.lock');
    await expect.poll(() => stat(lock).catch(() => undefined)).toBeDefined();
    const isInUse = async (content: object | string) => {
      await writeFile(lock, typeof content === 'string' ? content : JSON.stringify(content));
      const facts = { code: 'folder-in-use', message: expect.stringContaining(lock) };
      await expect(sync()).rejects.toMatchObject(facts);
    };
    // As another process: a lock of this one is from a process before it that had the same id.
    await isInUse({ pid: process.ppid, host: hostname() });
    held.reject(new Error('Ended'));
    await expect(first).rejects.toThrow('Ended');
    await isInUse({ pid: 1, host: 'other.example' });
    await isInUse({});
    // Of a process that was killed before it had written what it is; it may also be about to.
    await isInUse('');
    await utimes(lock, 0, 0);
    expect((await sync()).code).toBe(0);
    await writeFile(lock, JSON.stringify({ pid: 2 ** 22 + 1, host: hostname() }));
    expect((await sync()).code).toBe(0);
    expect(await readdir(folder)).toEqual(['.reelay.json', '01 - One.mp4', '02 - Two.mp4']);
  });
});
