import { resolve } from 'node:path';
import { type Plugin, type Rolldown, runnerImport, type UserConfig } from 'vite';

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
      const content = html.replace(PLACEHOLDER, module.prerenderShell());
      const tags = [{ tag: 'script', attrs: { src: `/${earlyScriptOf(bundle)}` }, injectTo: 'head-prepend' as const }];
      return { html: content, tags };
    },
  },
});

/** @throws Error when it cannot run as a classic script */
function earlyScriptOf(bundle: Rolldown.OutputBundle): string {
  const chunk = Object.values(bundle).find((output) => output.type === 'chunk' && output.name === 'early');
  if (chunk?.type !== 'chunk') throw new Error('No early.ts in the build');
  if (chunk.imports.length + chunk.dynamicImports.length + chunk.exports.length > 0)
    throw new Error('early.ts must not import or export');
  return chunk.fileName;
}
