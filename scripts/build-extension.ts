import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { BROWSERS, manifestFor } from '../web/extension/index.ts';

const ROOT = resolve(import.meta.dirname, '..');
const SOURCE = join(ROOT, 'web/extension');

/**
 * Writes the browser extension, a folder for each browser.
 * @returns the folders: `chromium`, `firefox`
 */
export async function buildExtension(target = join(ROOT, 'dist/extension')): Promise<string[]> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  await rm(target, { recursive: true, force: true });
  return Promise.all(
    BROWSERS.map(async (browser) => {
      const folder = join(target, browser);
      await mkdir(folder, { recursive: true });
      await build({
        entryPoints: [join(SOURCE, 'background.ts'), join(SOURCE, 'options.ts')],
        outdir: folder,
        bundle: true,
        format: 'esm',
        target: 'es2022',
        logLevel: 'warning',
      });
      const copy = (from: string, to: string) => cp(join(ROOT, 'web', from), join(folder, to), { recursive: true });
      await Promise.all([
        copy('extension/options.html', 'options.html'),
        copy('extension/options.css', 'options.css'),
        copy('extension/_locales', '_locales'),
        copy('public/icon-192.png', 'icon-192.png'),
        copy('public/icon-512.png', 'icon-512.png'),
        writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifestFor(browser, version), null, 2)}\n`),
      ]);
      return folder;
    }),
  );
}

if (import.meta.main) for (const folder of await buildExtension()) console.log(folder);
