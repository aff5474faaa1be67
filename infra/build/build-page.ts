import { join } from 'node:path';
import { build } from 'vite';

/** Builds the page to where its own configuration says: `dist/web`. */
export async function buildPage(): Promise<void> {
  await build({ configFile: join(import.meta.dirname, '../..', 'web', 'vite.config.ts'), logLevel: 'warn' });
}
