import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { packTarball, runCommand } from './command-line.ts';
import { repositoryFields } from './release.ts';

const ROOT = resolve(import.meta.dirname, '..');

interface BuildClientOptions {
  /** The folder with the sources of the service. @default this repository */
  readonly root?: string;
  /** Emptied. @default `dist/client` of this repository */
  readonly target?: string;
}

/** Writes the client package as it is published: JavaScript, declarations of its types, the version of the service, and where its repository is. */
export async function buildClient({
  root = ROOT,
  target = join(ROOT, 'dist/client'),
}: BuildClientOptions = {}): Promise<string> {
  const source = join(root, 'clients/reelay-client');
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  const read = async (path: string) => JSON.parse(await readFile(path, 'utf8')) as { version: string };
  const [own, { version }, place] = await Promise.all([
    read(join(source, 'package.json')),
    read(join(root, 'package.json')),
    repositoryFields(root),
  ]);
  await Promise.all([
    runCommand(process.execPath, [
      ...[join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', source, '--outDir', join(target, 'lib')],
      // Sources elsewhere have no packages beside them.
      ...['--typeRoots', join(ROOT, 'node_modules/@types')],
    ]),
    cp(join(source, 'README.md'), join(target, 'README.md')),
    cp(join(root, 'LICENSE'), join(target, 'LICENSE')),
    writeFile(join(target, 'package.json'), `${JSON.stringify({ ...own, version, ...place }, null, 2)}\n`),
  ]);
  return target;
}

if (import.meta.main) console.log(await packTarball(await buildClient(), join(ROOT, 'dist'), 'reelay-client.tgz'));
