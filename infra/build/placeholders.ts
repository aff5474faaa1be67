import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The entries of functions. */
export const FUNCTIONS_DIR = join(import.meta.dirname, '../..', 'lambdas/entries');
/** Names of all functions, by the files of their entries. */
export const FUNCTION_NAMES: readonly string[] = readdirSync(FUNCTIONS_DIR).map((file) => basename(file, '.ts'));

/**
 * Writes the least that a synthesis accepts in place of what `buildAssets` builds, which takes minutes at first: for stacks that are
 * listed or deleted.
 * @returns the folder
 */
export function writePlaceholders(outDir: string): string {
  const files = [
    ...FUNCTION_NAMES.map((name) => [`functions/${name}`, 'index.mjs', 'export const handler = () => {};'] as const),
    ['stream-service', 'Dockerfile', 'FROM scratch'] as const,
    ['web', 'index.html', '<!doctype html>'] as const,
  ];
  for (const [folder, name, content] of files) {
    mkdirSync(join(outDir, folder), { recursive: true });
    writeFileSync(join(outDir, folder, name), content);
  }
  return outDir;
}
