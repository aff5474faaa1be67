import { cp, glob, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildPage, bundle } from '../infra/build/index.ts';
import packageFile from '../package.json' with { type: 'json' };
import { runCommand } from './command-line.ts';
import { repositoryFields } from './release.ts';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * Writes the package `reelay` as it is published: the service and the client in bundles, the built page, and the plugin for servers of
 * Fastify with its types. It depends on nothing.
 * @param target is emptied
 */
export async function buildPackage(target = join(ROOT, 'dist/package')): Promise<string> {
  const work = await mkdtemp(join(tmpdir(), 'reelay-package-'));
  try {
    await bundle({ outDir: work, only: ['package'], sourceMaps: true });
    const built = join(work, 'package');
    await Promise.all([
      buildPage(join(built, 'web')),
      writeTypes(join(built, 'index.d.ts')),
      writeLicences(built),
      ...['README.md', 'LICENSE'].map((name) => cp(join(ROOT, name), join(built, name))),
    ]);
    const { name, version, description, license, type, engines, dependencies } = packageFile;
    const manifest = {
      name,
      version,
      description,
      license,
      type,
      engines,
      ...(await repositoryFields(ROOT)),
      bin: { reelay: 'reelay.mjs' },
      exports: { '.': { types: './index.d.ts', default: './index.mjs' } },
      // Installed with the server that registers the plugin.
      peerDependencies: { fastify: `^${dependencies.fastify}` },
      peerDependenciesMeta: { fastify: { optional: true } },
    };
    await writeFile(join(built, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await rm(target, { recursive: true, force: true });
    await cp(built, target, { recursive: true });
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Types of the entry point, which names those of Fastify alone. */
async function writeTypes(target: string): Promise<void> {
  const dir = await mkdtemp(join(ROOT, 'node_modules/.reelay-types-'));
  try {
    const emitting = { noEmit: false, declaration: true, emitDeclarationOnly: true, stripInternal: true };
    const compilerOptions = { ...emitting, rootDir: ROOT, outDir: dir };
    const project = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, files: [join(ROOT, 'local/plugin.ts')] };
    await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ ...project, include: [] }));
    await runCommand(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', dir]);
    await cp(join(dir, 'local/plugin.d.ts'), target);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** What the page and the folder of Swagger UI contain, beside what the source maps of the bundles name. */
const OTHER_PACKAGES = ['preact', 'hls.js', 'uqr', '@noble/hashes', 'swagger-ui-dist'];

/** Gathers the licences of all packages that the files contain. The source maps are removed. */
async function writeLicences(built: string): Promise<void> {
  const folders = new Set(OTHER_PACKAGES.map((name) => join(ROOT, 'node_modules', name)));
  for await (const map of glob(join(built, '*.map'))) {
    const { sources } = JSON.parse(await readFile(map, 'utf8')) as { sources: readonly string[] };
    for (const source of sources) {
      const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(resolve(built, source)) ?? [];
      if (folder) folders.add(folder);
    }
    await rm(map);
  }
  const texts: string[] = [];
  for (const folder of [...folders].toSorted())
    for await (const file of glob(join(folder, '{LICEN[CS]E,licen[cs]e,NOTICE}*')))
      texts.push(`${folder.replace(/^.*?node_modules\//, '')}\n\n${(await readFile(file, 'utf8')).trim()}\n`);
  await writeFile(join(built, 'THIRD-PARTY-LICENSES'), texts.join(`\n${'-'.repeat(80)}\n\n`));
}

if (import.meta.main) console.log(await buildPackage());
