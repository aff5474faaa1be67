import type { Plugin } from 'esbuild';

/** Of what this plugin asks itself. */
const RESOLVED_BY_PLUGIN = Symbol('asked');

/**
 * No module of this repository does anything by being imported, entries aside. Said of each, what a program does not use
 * of a layer falls away, and with it the packages that nothing else needs: half of a small function, and of its start.
 */
export const sideEffectFreePlugin: Plugin = {
  name: 'own-without-side-effects',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^\.\.?\// }, async ({ path, importer, resolveDir, kind, with: attributes, pluginData }) => {
      if (pluginData === RESOLVED_BY_PLUGIN || kind === 'entry-point' || importer.includes('node_modules'))
        return undefined;
      const resolved = await resolve(path, {
        importer,
        resolveDir,
        kind,
        with: attributes,
        pluginData: RESOLVED_BY_PLUGIN,
      });
      return { ...resolved, sideEffects: false };
    });
  },
};
