import { cp, glob, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { transform } from 'esbuild';
import { buildPage, bundle } from '../infra/build/index.ts';
import libraryFile from '../node_modules/aws-cdk-lib/package.json' with { type: 'json' };
import packageFile from '../package.json' with { type: 'json' };
import { packTarball, parseCommandLine, runCommand } from './command-line.ts';
import { repositoryFields } from './release.ts';

const ROOT = resolve(import.meta.dirname, '..');

interface PackageOptions {
  /** Emptied. */
  readonly target?: string;
  /** The image of the stream service of this version with its digest, which deployments use by default. */
  readonly streamImage?: string | undefined;
}

/**
 * Writes the package `reelay` as it is published: the service and the client in bundles, the built page, the plugin for servers of
 * Fastify, and the construct with all that it deploys, both with their types. It depends on nothing.
 */
export async function buildPackage(options: PackageOptions = {}): Promise<string> {
  const { target = join(ROOT, 'dist/package'), streamImage } = options;
  const work = await mkdtemp(join(tmpdir(), 'reelay-package-'));
  try {
    await bundle({ outDir: work, only: ['package'], sourceMaps: true });
    const built = join(work, 'package');
    await bundle({ outDir: built, sourceMaps: true });
    await minifyScripts(join(built, 'infra'));
    await Promise.all([
      buildPage(join(built, 'web')),
      writeTypes(built),
      writeLicences(built),
      writeFile(join(built, 'infra/defaults.json'), JSON.stringify({ streamImage })),
      ...['README.md', 'LICENSE'].map((name) => cp(join(ROOT, name), join(built, name))),
    ]);
    const { name, version, description, license, type, engines, dependencies, devDependencies } = packageFile;
    const peerDependencies = {
      // Installed with the server that registers the plugin.
      fastify: `^${dependencies.fastify}`,
      // Those of the app that has the construct.
      'aws-cdk-lib': `^${devDependencies['aws-cdk-lib']}`,
      constructs: libraryFile.peerDependencies.constructs,
    };
    const manifest = {
      name,
      version,
      description,
      license,
      type,
      engines,
      ...(await repositoryFields(ROOT)),
      bin: { reelay: 'reelay.mjs' },
      exports: {
        '.': { types: './index.d.ts', default: './index.mjs' },
        './infra': { types: './infra/types/infra/package.d.ts', default: './infra/index.mjs' },
      },
      peerDependencies,
      peerDependenciesMeta: Object.fromEntries(Object.keys(peerDependencies).map((peer) => [peer, { optional: true }])),
    };
    await writeFile(join(built, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await rm(target, { recursive: true, force: true });
    await cp(built, target, { recursive: true });
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Minifies the sources of the edge functions, whose size CloudFront limits: the construct reads them. Keeps names of the top level. */
async function minifyScripts(folder: string): Promise<void> {
  for await (const file of glob(join(folder, '*.js'))) {
    const options = { minifyWhitespace: true, minifyIdentifiers: true, charset: 'utf8' } as const;
    await writeFile(file, (await transform(await readFile(file, 'utf8'), options)).code);
  }
}

/** Types of the plugin, which name those of Fastify alone, and of the construct, with all of this repository that they name. */
async function writeTypes(built: string): Promise<void> {
  const dir = await mkdtemp(join(ROOT, 'node_modules/.reelay-types-'));
  try {
    const emitting = { noEmit: false, declaration: true, emitDeclarationOnly: true, stripInternal: true };
    const compilerOptions = { ...emitting, rootDir: ROOT, outDir: dir };
    const files = ['local/plugin.ts', 'infra/package.ts'].map((file) => join(ROOT, file));
    const project = { extends: join(ROOT, 'tsconfig.json'), compilerOptions, files };
    await writeFile(join(dir, 'tsconfig.json'), JSON.stringify({ ...project, include: [] }));
    await runCommand(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', dir]);
    await cp(join(dir, 'local/plugin.d.ts'), join(built, 'index.d.ts'));
    const named = new Set([join(dir, 'infra/package.d.ts')]);
    for (const file of named) {
      const text = await readFile(file, 'utf8');
      const target = join(built, 'infra/types', relative(dir, file));
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text.replaceAll(/(?<=')(\..*)\.ts(?=')/g, '$1.js'));
      for (const [, path = ''] of text.matchAll(/'(\..*)\.ts'/g)) named.add(join(dirname(file), `${path}.d.ts`));
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/** What the page and the folder of Swagger UI contain, beside what the source maps of the bundles name. */
const OTHER_PACKAGES = ['preact', 'hls.js', 'uqr', '@noble/hashes', 'swagger-ui-dist'];

/** Gathers the licences of all packages that the files contain. The source maps are removed. */
async function writeLicences(built: string): Promise<void> {
  const folders = new Set(OTHER_PACKAGES.map((name) => join(ROOT, 'node_modules', name)));
  for await (const map of glob(join(built, '**/*.map'))) {
    const { sources } = JSON.parse(await readFile(map, 'utf8')) as { sources: readonly string[] };
    for (const source of sources) {
      const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(resolve(dirname(map), source)) ?? [];
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

if (import.meta.main) {
  const { values } = parseCommandLine({ options: { 'stream-image': { type: 'string' } } });
  // Empty where the release has no image.
  const folder = await buildPackage({ streamImage: values['stream-image'] || undefined });
  console.log(await packTarball(folder, join(ROOT, 'dist'), 'reelay.tgz'));
}
