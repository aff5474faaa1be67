import { resolve } from 'node:path';
import { type Plugin, runnerImport, type UserConfig } from 'vite';

const PLACEHOLDER = '<!--shell-->';

/** Renders the shell into `index.html`, and loads `early.ts` as a script that blocks the first paint. */
export const prerenderPlugin = (config: Pick<UserConfig, 'oxc' | 'json'>): Plugin => ({
  name: 'reelay-prerender',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    async handler(html, { bundle = {} }) {
      if (!html.includes(PLACEHOLDER)) return html;
      const file = resolve(import.meta.dirname, 'src/ui/prerender/index.ts');
      const { module } = await runnerImport<{ prerenderShell(): string }>(file, {
        ...config,
        configFile: false,
      });
      const early = Object.values(bundle).find(({ name }) => name === 'early');
      if (early?.type !== 'chunk' || early.imports.length + early.exports.length > 0)
        throw new Error('early.ts must be a chunk without imports and exports');
      const script = `<script src="./${early.fileName}"></script>`;
      return html.replace(PLACEHOLDER, module.prerenderShell()).replace('<head>', `<head>${script}`);
    },
  },
});
