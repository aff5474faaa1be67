import { resolve } from 'node:path';
import { type Plugin, runnerImport, type UserConfig } from 'vite';

const PLACEHOLDER = '<!--shell-->';

/** Renders the shell into `index.html`, and loads `preload.ts` as a script that blocks the first paint. */
export const prerenderPlugin = (config: Pick<UserConfig, 'oxc' | 'json'>): Plugin => ({
  name: 'reelay-prerender',
  apply: 'build',
  transformIndexHtml: {
    order: 'post',
    async handler(html, { bundle = {} }) {
      if (!html.includes(PLACEHOLDER)) return html;
      const file = resolve(import.meta.dirname, 'src/ui/shell/prerender-shell.tsx');
      const { module } = await runnerImport<{ prerenderShell(): string }>(file, {
        ...config,
        configFile: false,
      });
      const chunks = Object.values(bundle);
      const entry = chunks.find(({ name }) => name === 'index');
      if (entry?.type !== 'chunk' || !entry.moduleIds.some((id) => id.endsWith('/main.tsx')))
        throw new Error('main.tsx must be in the entry chunk, or it does not run: first-load.ts must not match it');
      const preload = chunks.find(({ name }) => name === 'preload');
      if (preload?.type !== 'chunk' || preload.imports.length + preload.exports.length > 0)
        throw new Error('preload.ts must be a chunk without imports and exports');
      const script = `<script src="./${preload.fileName}"></script>`;
      return html.replace(PLACEHOLDER, module.prerenderShell()).replace('<head>', `<head>${script}`);
    },
  },
});
