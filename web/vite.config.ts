import { resolve } from 'node:path';
import { defineConfig } from 'vite';

const WEB = import.meta.dirname;

export default defineConfig({
  root: WEB,
  base: '/',
  publicDir: resolve(WEB, 'public'),
  json: { namedExports: false },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: resolve(WEB, '../dist/web'),
    emptyOutDir: true,
    target: 'baseline-widely-available',
    // Nothing inline: the page's Content-Security-Policy would refuse it.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: { index: resolve(WEB, 'index.html'), status: resolve(WEB, 'status.html') },
    },
  },
});
