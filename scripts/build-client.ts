import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runCommand } from './command-line.ts';

const ROOT = resolve(import.meta.dirname, '..');
const SOURCE = join(ROOT, 'clients/reelay-client');

/** Writes the client package as it is published: JavaScript, declarations of its types, and the version of the service. */
export async function buildClient(target = join(ROOT, 'dist/client')): Promise<string> {
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as { version: string };
  const [own, { version }] = await Promise.all([read(join(SOURCE, 'package.json')), read(join(ROOT, 'package.json'))]);
  await Promise.all([
    runCommand(process.execPath, [
      join(ROOT, 'node_modules/typescript/bin/tsc'),
      '-p',
      SOURCE,
      '--outDir',
      join(target, 'lib'),
    ]),
    cp(join(SOURCE, 'README.md'), join(target, 'README.md')),
    cp(join(ROOT, 'LICENSE'), join(target, 'LICENSE')),
    writeFile(join(target, 'package.json'), `${JSON.stringify({ ...own, version }, null, 2)}\n`),
  ]);
  return target;
}

if (import.meta.main) console.log(await buildClient());
