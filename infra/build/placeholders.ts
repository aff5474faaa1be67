import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FUNCTION_NAMES } from './bundle.ts';

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
