import { createHash } from 'node:crypto';
import type { Plugin, Rolldown } from 'vite';

const WORKER = 'service-worker.js';
/** The global that service-worker.ts reads. */
const PLACEHOLDER = '__SHELL__';

/** Inserts the list of shell files into the service worker. */
export const shellPlugin = (): Plugin => ({
  name: 'reelay-shell',
  apply: 'build',
  enforce: 'post',
  generateBundle(_, bundle) {
    const worker = bundle[WORKER];
    if (worker?.type !== 'chunk') return this.error(`No ${WORKER} in the build`);
    if (worker.imports.length > 0) return this.error(`${WORKER} must not import: ${worker.imports.join(', ')}`);
    if (!worker.code.includes(PLACEHOLDER)) return this.error(`${WORKER} does not read ${PLACEHOLDER}`);
    worker.code = worker.code.replaceAll(PLACEHOLDER, JSON.stringify(shellOf(bundle)));
  },
});

function shellOf(bundle: Rolldown.OutputBundle) {
  const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
  // Lazy chunks and locales too: the page must work offline.
  const own = chunks.filter(({ fileName }) => fileName !== WORKER);
  const names = own.flatMap((chunk) => [chunk.fileName, ...stylesOf(chunk)]);
  const assets = [...new Set(names)].sort().map((name) => `/${name}`);
  const pages = Object.values(bundle).filter(({ fileName }) => fileName.endsWith('.html'));
  const content = pages.map((page) => (page.type === 'asset' ? page.source : page.code)).join('');
  const version = createHash('sha256')
    .update(JSON.stringify([assets, content]))
    .digest('hex')
    .slice(0, 12);
  return { version, assets };
}

const stylesOf = (chunk: Rolldown.OutputChunk): string[] => [
  ...((chunk as { viteMetadata?: { importedCss: Set<string> } }).viteMetadata?.importedCss ?? []),
];
