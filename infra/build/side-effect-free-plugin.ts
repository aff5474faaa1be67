import type { Plugin } from 'esbuild';

/** Marks resolutions that this plugin started itself, so that it does not handle them again. */
const RESOLVED_BY_PLUGIN = Symbol('resolved-by-plugin');

/**
 * Declares every module of this repository, entry points aside, free of side effects on import (`sideEffects: false`).
 * esbuild can then drop unused modules of an index file together with the packages only they import, which halves the
 * size and cold start of the small functions.
 */
export const sideEffectFreePlugin: Plugin = {
  name: 'side-effect-free',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\.\.?\// }, async ({ path, importer, resolveDir, kind, with: attributes, pluginData }) => {
      const isEntry = kind === 'entry-point';
      if (pluginData === RESOLVED_BY_PLUGIN || isEntry || importer.includes('node_modules')) return undefined;
      const options = { importer, resolveDir, kind, with: attributes, pluginData: RESOLVED_BY_PLUGIN };
      return { ...(await resolve(path, options)), sideEffects: false };
    });
  },
};
