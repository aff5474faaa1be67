import { resolve } from 'node:path';
import { defineConfig, type UserConfig } from 'vite';
import { FIRST_LOAD } from './first-load.ts';
import { prerenderPlugin } from './prerender-plugin.ts';

const WEB = import.meta.dirname;
const page = (name: string) => resolve(WEB, `${name}.html`);

/** How modules are compiled, also those that run in the build. */
const modules: UserConfig = {
  json: { namedExports: false },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
};

/** The web page. `vite build --config web/vite.config.ts` writes the complete folder. */
export default defineConfig({
  root: WEB,
  // The page works below any path.
  base: './',
  experimental: {
    // It is shown at any depth.
    renderBuiltUrl: (filename, { hostId }) => (hostId === 'not-found.html' ? `/${filename}` : undefined),
  },
  publicDir: resolve(WEB, 'public'),
  ...modules,
  plugins: [prerenderPlugin(modules)],
  build: {
    outDir: resolve(WEB, '../dist/web'),
    emptyOutDir: true,
    target: 'baseline-widely-available',
    // The page's Content-Security-Policy forbids inline content.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        index: page('index'),
        'not-found': page('not-found'),
        preload: resolve(WEB, 'src/preload.ts'),
      },
      // These modules only declare: an entry file that names lazily loaded ones must not load them.
      treeshake: {
        moduleSideEffects: (id) => !/web\/src\/(?:renditions|ui)\/.*\.tsx?$/.test(id),
      },
      output: {
        // One chunk for what every page loads first: each request costs its headers, and small chunks compress worse.
        // Not with the dependencies of an index.ts, which names more than the first load uses.
        codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: 'shell', test: FIRST_LOAD }] },
        entryFileNames: 'assets/[name]-[hash].js',
      },
    },
  },
});
