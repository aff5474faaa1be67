import { cp, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildPage } from '../../local/build-page.ts';
import { loadPageFiles } from '../../local/service/page-server.ts';
import securityHeaders from '../../web/security-headers.json' with { type: 'json' };
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Budget of a first visit: transferred bytes and requests. */
const BUDGET = { bytes: 60_000, requests: 7 };

const folder = await temporaryFolder();
const outDir = join(folder, 'web');
// That of the service, which other tests need too.
await cp(await buildPage(), outDir, { recursive: true });
const files = await loadPageFiles(outDir);

const textOf = (path: string): string => files.get(path)?.plain.body.toString() ?? expect.fail(`No ${path}`);
const sent = (path: string): number => {
  const file = files.get(path) ?? expect.fail(`No ${path}`);
  return (file.encoded.get('br') ?? file.plain).body.length;
};
const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, path = '']) => path);

/** All files that a browser requests for a page, with the texts of one language. */
function firstLoad(page: string): string[] {
  const seen = new Set<string>([page]);
  const follow = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    const text = textOf(path);
    if (path.endsWith('.js')) {
      const imports = matches(text, /(?:import|from)\s*["'`](\.\.?\/[^"'`]+)["'`]/g);
      for (const name of imports) follow(new URL(name, `http://x${path}`).pathname);
    }
    if (path.endsWith('.css'))
      for (const name of matches(text, /url\((?!data:)["']?([^"')]+)/g))
        follow(new URL(name, `http://x${path}`).pathname);
  };
  for (const path of matches(textOf(page), /(?:src|href)="\.?(\/[^"]+\.(?:js|css|woff2))"/g)) follow(path);
  const texts = [...files.keys()].find((path) => /\/ar-[^/]*\.js$/.test(path)) ?? expect.fail('No texts');
  return [...seen, texts];
}

describe('built page', () => {
  it.each(['/', '/not-found'])('%s references only files of the build', (page) => {
    const html = textOf(page);
    // The API's description is the service's.
    const own = matches(html, /(?:src|href)="\.?(\/(?!swagger\/)[^"]+)"/g).filter((path) => /\.\w+$/.test(path));
    for (const path of own) expect(files.has(path), path).toBe(true);
    expect(html).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  });

  it.each(['/', '/not-found'])('%s keeps to its own Content-Security-Policy: nothing inline', (page) => {
    const html = textOf(page);
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<base/i);
    for (const tag of html.match(/<script[^>]*>[^<]*/gi) ?? [])
      expect(tag).toMatch(/^<script[^>]*\ssrc="[^"]+"[^>]*>$/);
    expect(securityHeaders['Content-Security-Policy']).not.toContain('unsafe');
  });

  it('stays within its budget', () => {
    const load = firstLoad('/');
    const bytes = load.reduce((sum, path) => sum + sent(path), 0);
    expect(load.length).toBeGreaterThan(3);
    expect(load.length, load.join(' ')).toBeLessThanOrEqual(BUDGET.requests);
    expect(bytes, `${bytes} bytes`).toBeLessThan(BUDGET.bytes);
  });

  it('hashes the names of files cached for a year', () => {
    const kept = [...files].filter(([, { cacheControl }]) => cacheControl.includes('immutable')).map(([path]) => path);
    expect(kept.length).toBeGreaterThan(5);
    for (const path of kept) expect(path).toMatch(/^\/assets\/[\w-]+-[\w-]{8}\.\w+$/);
  });
});

describe('buildPage', () => {
  it('keeps a build of the same sources', async () => {
    const before = await stat(outDir);
    expect(await buildPage({ outDir })).toBe(outDir);
    expect((await stat(outDir)).ino).toBe(before.ino);
  });

  it('replaces an outdated build as a whole, also when run concurrently', async () => {
    await writeFile(join(outDir, '.built-from'), 'others');
    await writeFile(join(outDir, 'left-over.js'), '');
    await Promise.all([buildPage({ outDir }), buildPage({ outDir })]);
    expect(await readdir(outDir)).not.toContain('left-over.js');
    expect((await loadPageFiles(outDir)).size).toBe(files.size);
    expect(await readdir(folder)).toEqual(['web']);
  });

  it('leaves no files when aborted', async () => {
    const own = join(folder, 'ended', 'web');
    await expect(buildPage({ outDir: own, signal: AbortSignal.abort() })).rejects.toThrow();
    expect(await readdir(join(folder, 'ended'))).toEqual([]);
  });
});
