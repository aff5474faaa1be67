import { resolve } from 'node:path';
import { defineConfig } from 'vite';
import { shellPlugin } from './shell-plugin.ts';

const WEB = import.meta.dirname;
const page = (name: string) => resolve(WEB, `${name}.html`);

/** The page people use: `vite build --config web/vite.config.ts` makes the complete folder. */
export default defineConfig({
  root: WEB,
  base: '/',
  publicDir: resolve(WEB, 'public'),
  json: { namedExports: false },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  plugins: [shellPlugin()],
  build: {
    outDir: resolve(WEB, '../dist/web'),
    emptyOutDir: true,
    target: 'baseline-widely-available',
    // Nothing inline: the page's Content-Security-Policy would refuse it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        index: page('index'),
        status: page('status'),
        'not-found': page('not-found'),
        'service-worker': resolve(WEB, 'src/service-worker.ts'),
      },
      output: {
        // A service worker keeps its name: that is how a browser finds the next one.
        entryFileNames: ({ name }) => (name === 'service-worker' ? '[name].js' : 'assets/[name]-[hash].js'),
      },
    },
  },
});
