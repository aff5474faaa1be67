import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { build } from 'vite';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import { buildPage } from '../../../local/page/build-page.ts';
import { createPage } from '../../../local/page/page.ts';
import { hasChromium, itInChromium as it, launchChromium } from '../../support/chromium.ts';
import { someBytes } from '../fakes/byte-sources.ts';

const SINKS = resolve(import.meta.dirname, '../../../web/src/download/sinks.ts');

let folder = '';
let server: Server;
let baseUrl = '';
let browser: Browser;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];

/** The sinks as a separate bundle: the page does not export them. */
async function bundleSinks(outDir: string): Promise<void> {
  const entry = join(folder, 'sinks.ts');
  const sinks = JSON.stringify(SINKS);
  await writeFile(
    entry,
    `import * as sinks from ${sinks}; Object.assign(globalThis, { sinks, showSaveFilePicker: undefined });`,
  );
  const lib = { entry, formats: ['es' as const], fileName: 'sinks' };
  await build({ configFile: false, logLevel: 'error', build: { outDir, emptyOutDir: false, lib } });
}

beforeAll(async () => {
  if (!hasChromium) return;
  folder = await mkdtemp(join(tmpdir(), 'reelay-browser-'));
  const outDir = await buildPage({ outDir: join(folder, 'web') });
  await bundleSinks(join(outDir, 'assets'));
  const own = createPage({ built: Promise.resolve(outDir), log: silentLog });
  server = createServer((request, response) => {
    if (own.owns(request)) own.handle(request, response);
    else response.writeHead(404, { 'content-type': 'application/json' }).end('{"title":"Resource Not Found"}');
  });
  await own.ready;
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  server?.closeAllConnections();
  if (server) await new Promise((done) => void server.close(done));
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  if (!hasChromium) return;
  complaints.length = 0;
  context = await browser.newContext({ acceptDownloads: true });
  page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
});
afterEach(() => context?.close());

describe('built page', () => {
  it.each(['/', '/status'])('%s loads without CSP violations', async (path) => {
    await page.goto(baseUrl + path, { waitUntil: 'networkidle' });
    expect((await page.textContent('h1'))?.trim()).toBeTruthy();
    expect(complaints.filter((text) => /content security policy|refused to/i.test(text))).toEqual([]);
  });

  it('loads again while offline', async () => {
    await page.goto(`${baseUrl}/`);
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    await page.reload({ waitUntil: 'networkidle' });
    const before = await page.textContent('h1');
    await context.setOffline(true);
    await page.goto(`${baseUrl}/?url=nothing`);
    await page.waitForSelector('h1');
    expect(await page.textContent('h1')).toBe(before);
  });
});

describe('storage sink in Chromium', () => {
  type Bundled = { sinks: typeof import('../../../web/src/download/sinks.ts') };
  const open = async () => {
    await page.goto(`${baseUrl}/not-there`);
    await page.addScriptTag({ url: '/assets/sinks.js', type: 'module' });
    await page.waitForFunction(() => 'sinks' in globalThis);
  };

  it("hands the exact bytes to the browser's downloads, also after a restart", async () => {
    await open();
    const bytes = someBytes(60_000);
    const [download, kind] = await Promise.all([
      page.waitForEvent('download'),
      page.evaluate(
        async (values) => {
          const { openSink } = (globalThis as unknown as Bundled).sinks;
          const sink = await openSink('Some title.mp4', 1000);
          if (sink.kind === 'browser') return sink.kind;
          await sink.write(new Uint8Array([9, 9, 9]));
          await sink.restart();
          const all = new Uint8Array(values);
          for (let at = 0; at < all.length; at += 9_000) await sink.write(all.slice(at, at + 9_000));
          await sink.close();
          return sink.kind;
        },
        [...bytes],
      ),
    ]);
    expect(kind).toBe('storage');
    expect(download.suggestedFilename()).toBe('Some title.mp4');
    expect((await readFile(await download.path())).equals(bytes)).toBe(true);
  });

  it('removes aborted files and those of closed pages', async () => {
    const count = () =>
      page.evaluate(async () => {
        const root = await navigator.storage.getDirectory();
        const folder = await root.getDirectoryHandle('downloads', { create: true });
        let names = 0;
        for await (const _ of folder.keys()) names++;
        return names;
      });
    const use = (end: 'abort' | 'leave') =>
      page.evaluate(async (how) => {
        const sink = await (globalThis as unknown as Bundled).sinks.openSink('file.mp4');
        if (sink.kind === 'browser') throw new Error('No storage');
        await sink.write(new Uint8Array(10));
        if (how === 'abort') await sink.abort();
      }, end);
    const sweep = () => page.evaluate(() => (globalThis as unknown as Bundled).sinks.sweepStorage());
    await open();
    await use('abort');
    expect(await count()).toBe(0);
    await use('leave');
    await sweep();
    // In use by an open page.
    expect(await count()).toBeGreaterThan(0);
    await open();
    // The browser releases the lock of a page some time after it is left.
    await expect
      .poll(async () => {
        await sweep();
        return count();
      })
      .toBe(0);
  });
});
