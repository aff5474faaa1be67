import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createVersionStore } from '../../packages/yt-dlp-worker/src/install/version-store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Tool {
  readonly version: string;
  readonly path: string;
}

const root = await temporaryFolder();
let dir: string;
let tests = 0;
beforeEach(() => {
  dir = join(root, `${tests++}`);
});

const open = () => createVersionStore<Tool>(dir, ({ path }) => [path, '-a-flag']);
const put = async (version: string) => {
  const store = open();
  const staged = await store.stage();
  await writeFile(join(staged, 'program'), version);
  return store.activate(staged, (folder) => ({ version, path: join(folder, 'program') }));
};
const names = async () => (await readdir(dir)).sort();
const currentVersion = async () => (await open().current())?.tool.version;

describe('createVersionStore', () => {
  it('is empty at first', async () => {
    expect(await open().current()).toBeUndefined();
    expect(await open().others()).toEqual([]);
    await open().cleanStaged();
    await open().prune(2);
  });

  it('returns the version installed last, in other processes too', async () => {
    await put('1.0');
    await put('2.0');
    expect(await currentVersion()).toBe('2.0');
    expect((await open().others()).map(({ tool }) => tool.version)).toEqual(['1.0']);
  });

  it('keeps the files of a version that is installed again', async () => {
    const first = await put('1.0');
    const second = await put('1.0');
    expect(second.tool.path).not.toBe(first.tool.path);
    expect(await open().current()).toEqual(second);
  });

  it('switches back to an earlier version', async () => {
    const earlier = await put('1.0');
    await put('2.0');
    await open().switchTo(earlier);
    expect(await open().current()).toEqual(earlier);
  });

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['is missing', (path) => rm(path)],
    ['was changed', (path) => writeFile(path, 'something else')],
    ['has no tool.json', (path) => rm(join(path, '..', 'tool.json'))],
    ['has an invalid tool.json', (path) => writeFile(join(path, '..', 'tool.json'), '{"tool"')],
  ])('omits a version that %s', async (_, damage) => {
    const { tool } = await put('1.0');
    await damage(tool.path);
    expect(await open().current()).toBeUndefined();
  });

  it.each(['', '../1.0', '/etc', 'nothing', '1.0\n'])('treats a pointer to %j as none', async (pointer) => {
    await put('1.0');
    await writeFile(join(dir, 'current'), pointer);
    expect(await open().current()).toBeUndefined();
  });

  it('ignores and removes files of a killed process', async () => {
    await put('1.0');
    const staged = await open().stage();
    await writeFile(join(staged, 'program'), '2.0');
    await mkdir(join(dir, '2.0')); // renamed, but without tool.json
    await writeFile(join(dir, '.current-1'), '2.0');

    expect(await currentVersion()).toBe('1.0');
    expect(await open().others()).toEqual([]);
    await open().cleanStaged();
    await open().prune(2);
    expect(await names()).toEqual(['1.0', 'current']);
  });

  it('keeps the current version and the newest others', async () => {
    for (const version of ['4.0', '1.0', '3.0', '2.0']) await put(version);
    await open().prune(2);
    expect(await names()).toEqual(['2.0', '3.0', '4.0', 'current']);
  });
});
