import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createVersionStore } from '../../../layers/tools/install/version-store.ts';
import { temporaryFolder } from './temporary.ts';

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
  const shelf = open();
  const staged = await shelf.stage();
  await writeFile(join(staged, 'program'), version);
  return shelf.activate(staged, (folder) => ({ version, path: join(folder, 'program') }));
};
const names = async () => (await readdir(dir)).sort();
const currentVersion = async () => (await open().current())?.tool.version;

describe('a shelf', () => {
  it('has nothing at first', async () => {
    expect(await open().current()).toBeUndefined();
    expect(await open().others()).toEqual([]);
    await open().cleanStaged();
    await open().prune(2);
  });

  it('has the version placed last, for another process too', async () => {
    await put('1.0');
    await put('2.0');
    expect(await currentVersion()).toBe('2.0');
    expect((await open().others()).map(({ tool }) => tool.version)).toEqual(['1.0']);
  });

  it('leaves a version in its place when the same one comes again', async () => {
    const first = await put('1.0');
    const second = await put('1.0');
    expect(second.tool.path).not.toBe(first.tool.path);
    expect(await open().current()).toEqual(second);
  });

  it('goes back to an earlier version', async () => {
    const earlier = await put('1.0');
    await put('2.0');
    await open().switchTo(earlier);
    expect(await open().current()).toEqual(earlier);
  });

  it.each<[string, (path: string) => Promise<unknown>]>([
    ['is gone', (path) => rm(path)],
    ['was changed', (path) => writeFile(path, 'something else')],
    ['has lost its note', (path) => rm(join(path, '..', 'tool.json'))],
    ['has a note that is none', (path) => writeFile(join(path, '..', 'tool.json'), '{"tool"')],
  ])('does not offer a version that %s', async (_, damage) => {
    const { tool } = await put('1.0');
    await damage(tool.path);
    expect(await open().current()).toBeUndefined();
  });

  it.each(['', '../1.0', '/etc', 'nothing', '1.0\n'])('takes a pointer to %j for none', async (pointer) => {
    await put('1.0');
    await writeFile(join(dir, 'current'), pointer);
    expect(await open().current()).toBeUndefined();
  });

  it('never takes for current what a killed process left behind, and removes it', async () => {
    await put('1.0');
    const staged = await open().stage();
    await writeFile(join(staged, 'program'), '2.0');
    await mkdir(join(dir, '2.0')); // renamed, but without its note
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
