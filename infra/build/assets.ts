import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from './bundle.ts';
import { buildPage } from './image-context.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Folders that assets are built from, beside the files. */
const SOURCES = ['clients', 'core', 'infra/build', 'lambdas', 'layers', 'packages', 'stream-service', 'web'];
/** The first one has the version, which bundles contain. */
const FILES = ['package.json', 'package-lock.json', 'tsconfig.json'];
/** File with the digest of the sources that a folder was built from. */
const STAMP = '.built-from';
const GENERATED = /(^|\/)(node_modules|__pycache__|dist|test)\//;

const PARTS = ['functions', 'stream-service', 'web'];

interface AssetOptions {
  /** Receives `functions/<name>`, `stream-service` and `web`. Nothing else may write there: what is in it is not looked at again. */
  readonly outDir: string;
}

/** Builds all that is deployed, unless the folder was built from the same sources. */
export async function buildAssets({ outDir }: AssetOptions): Promise<void> {
  const stamp = join(outDir, STAMP);
  const sources = digestOfSources();
  const builtFrom = await readFile(stamp, 'utf8').catch(() => undefined);
  if (builtFrom === sources && PARTS.every((part) => existsSync(join(outDir, part)))) return;
  await rm(stamp, { force: true });
  await bundle({ outDir });
  await buildPage(join(outDir, 'web'));
  await writeFile(stamp, sources);
}

function digestOfSources(): string {
  const digest = createHash('sha256');
  const inFolders = SOURCES.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true }),
  )
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length))
    .filter((path) => !GENERATED.test(path));
  for (const path of [...FILES, ...inFolders.sort()]) digest.update(`${path}\0`).update(readFileSync(join(ROOT, path)));
  return digest.digest('hex');
}
