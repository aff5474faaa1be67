import { globSync } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../../scripts/command-line.ts';
import { packPackages } from '../../scripts/pack-packages.ts';
import { checkTypes } from '../support/check-types.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { EXAMPLES } from './package-examples.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGES = join(ROOT, 'packages');
const tarballs = await packPackages(await temporaryFolder());
const read = (...path: string[]) => readFile(join(ROOT, ...path), 'utf8');

/** A package of the workspace, and those that it needs. */
async function withDependencies(name: string, found = new Set([name])): Promise<ReadonlySet<string>> {
  const folder = name === '@reelay/tools-layer' ? 'layers/tools' : name.replace('@reelay', 'packages');
  const { dependencies = {} } = JSON.parse(await read(folder, 'package.json'));
  for (const needed of Object.keys(dependencies))
    if (tarballs.has(needed) && !found.has(needed)) await withDependencies(needed, found.add(needed));
  return found;
}

it('every example of a package is run', () =>
  expect(Object.keys(EXAMPLES).toSorted()).toEqual(globSync('*/example*.ts', { cwd: PACKAGES }).toSorted()));

it.each(globSync('*', { cwd: PACKAGES }))(
  '%s is installed from its tarball into an empty folder, and the examples of its README run there',
  async (name) => {
    const project = await temporaryFolder();
    await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
    const files = [...(await withDependencies(`@reelay/${name}`))].map((each) => tarballs.get(each) ?? '');
    // Programs that packages download when they are installed are not what the examples use.
    const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await runCommand('npm', ['install', ...flags, ...files], project);

    const readme = await read('packages', name, 'README.md');
    const examples = Object.keys(EXAMPLES).filter((path) => dirname(path) === name);
    expect(examples).not.toEqual([]);
    for (const example of examples) {
      expect(readme).toContain(`\`\`\`ts\n${await read('packages', example)}\`\`\``);
      const copy = join(project, basename(example));
      await copyFile(join(PACKAGES, example), copy);
      await EXAMPLES[example]?.(copy);
    }
    await checkTypes(
      project,
      examples.map((path) => basename(path)),
    );
  },
);
