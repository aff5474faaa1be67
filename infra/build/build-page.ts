import { join } from 'node:path';
import { build } from 'vite';

/** Builds the web page. @param outDir by default `dist/web`, the output directory of its own Vite configuration */
export async function buildPage(outDir?: string): Promise<void> {
  await build({
    configFile: join(import.meta.dirname, '../..', 'web', 'vite.config.ts'),
    logLevel: 'warn',
    ...(outDir && { build: { outDir } }),
  });
}
