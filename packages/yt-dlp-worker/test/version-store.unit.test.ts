import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { createVersionStore } from '../src/install/version-store.ts';

// What providers, updates and killed processes leave in a store is in `provider-events.ts` and `create-tools.test.ts`.
async function storeWith(...versions: string[]) {
  const dir = join(await temporaryFolder(), 'store');
  const store = createVersionStore<{ version: string; path: string }>(dir, ({ path }) => [path, '-a-flag']);
  const paths: string[] = [];
  for (const version of versions) {
    const staged = await store.stage();
    await writeFile(join(staged, 'program'), version);
    const { tool } = await store.activate(staged, (folder) => ({ version, path: join(folder, 'program') }));
    paths.push(tool.path);
  }
  return { dir, store, paths };
}

it('an empty store has no versions, and nothing to remove', async () => {
  const { store } = await storeWith();
  expect([await store.current(), await store.others()]).toEqual([undefined, []]);
  await store.cleanStaged();
  await store.prune(2);
});

it('a version that is installed again has files of its own', async () => {
  const { store, paths } = await storeWith('1.0', '1.0');
  expect(new Set(paths).size).toBe(2);
  expect((await store.current())?.tool.path).toBe(paths[1]);
});

type Damage = readonly [string, (path: string, dir: string) => Promise<unknown>];
const pointing = (pointer: string): Damage => [
  `is ${JSON.stringify(pointer)}`,
  (_, dir) => writeFile(join(dir, 'current'), pointer),
];

it.each<Damage>([
  ['is missing', (path) => rm(path)],
  ['was changed', (path) => writeFile(path, 'something else')],
  ['has no tool.json', (path) => rm(join(path, '..', 'tool.json'))],
  ['has an invalid tool.json', (path) => writeFile(join(path, '..', 'tool.json'), '{"tool"')],
  ...['', '../1.0', '/etc', 'nothing', '1.0\n'].map(pointing),
])('a current version that %s is none', async (_, damage) => {
  const { dir, store, paths } = await storeWith('1.0');
  await damage(paths[0] ?? '', dir);
  expect(await store.current()).toBeUndefined();
});
