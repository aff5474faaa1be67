import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { temporaryFolder } from './temporary-folder.ts';

/** CommonJS dependencies use `require` for Node's built-in modules, and `__dirname`: ES modules define neither. */
const COMMONJS =
  "import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url); " +
  'const __dirname = import.meta.dirname;';

/**
 * Bundles a program for one test file that starts it many times: one file loads in half the CPU time of the modules of the
 * AWS clients.
 * @returns the path of the bundle, which is removed after the tests of the file
 */
export async function bundleProgram(entry: string): Promise<string> {
  const outfile = join(await temporaryFolder(), `${basename(entry, '.ts')}.mjs`);
  const format = {
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: COMMONJS },
    logLevel: 'error',
  } as const;
  await build({ entryPoints: [entry], outfile, ...format });
  return outfile;
}
