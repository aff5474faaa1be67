import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommand } from '../../scripts/command-line.ts';
import { packPackages } from '../../scripts/pack-packages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { checkExampleIn, EXAMPLES, PACKAGES } from './package-examples.ts';

const ROOT = join(PACKAGES, '..');
const tarballs = await packPackages(await temporaryFolder());

/** A package of the workspace, and those that it needs. */
function withDependencies(name: string, found = new Set([name])): ReadonlySet<string> {
  const folder = name === '@reelay/tools-layer' ? 'layers/tools' : name.replace('@reelay', 'packages');
  const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
  for (const needed of Object.keys(dependencies))
    if (tarballs.has(needed) && !found.has(needed)) withDependencies(needed, found.add(needed));
  return found;
}

it.each(readdirSync(PACKAGES))(
  '%s is installed from its tarball into an empty folder, and its examples run there',
  async (name) => {
    const project = await temporaryFolder();
    await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
    const files = [...withDependencies(`@reelay/${name}`)].map((each) => tarballs.get(each) ?? '');
    // Programs that packages download when they are installed are not what the examples use.
    const flags = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await runCommand('npm', ['install', ...flags, ...files], project);

    const examples = EXAMPLES.filter((example) => example.name === name);
    expect(examples).not.toEqual([]);
    for (const example of examples) await checkExampleIn(project, example);
    const types = ['--typeRoots', join(ROOT, 'node_modules/@types'), '--types', 'node'];
    const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2024', ...types];
    const sources = examples.map(({ file }) => file);
    const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
    await runCommand(process.execPath, [tsc, '--ignoreConfig', ...options, ...sources], project);
  },
);
