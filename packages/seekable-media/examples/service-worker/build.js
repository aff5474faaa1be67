import { join } from 'node:path';
import { build } from 'esbuild';

const pathTo = (name) => join(import.meta.dirname, name);

/** node build.js FOLDER: the service worker in one file, with packages in place of what browsers have not. */
await build({
  entryPoints: [pathTo('worker.js')],
  bundle: true,
  minify: true,
  outfile: join(process.argv[2] ?? 'dist', 'worker.js'),
  alias: { 'node:crypto': pathTo('node-crypto.js') },
  inject: [pathTo('globals.js')],
});
