import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { buildPage } from '../../../local/build-page.ts';
import { createPageServer } from '../../../local/service/page-server.ts';
import { hasChromium, itInChromium as it, launchChromium } from '../../support/chromium.ts';

let folder = '';
let server: Server;
let baseUrl = '';
let browser: Browser;
let context: BrowserContext;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  if (!hasChromium) return;
  folder = await mkdtemp(join(tmpdir(), 'reelay-browser-'));
  const outDir = await buildPage({ outDir: join(folder, 'web') });
  const own = createPageServer({ built: Promise.resolve(outDir), log: silentLog });
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
  context = await browser.newContext();
  page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
});
afterEach(() => context?.close());

describe('built page', () => {
  it('loads without CSP violations', async () => {
    await page.goto(`${baseUrl}/`, { waitUntil: 'networkidle' });
    expect((await page.textContent('h1'))?.trim()).toBeTruthy();
    expect(complaints.filter((text) => /content security policy|refused to/i.test(text))).toEqual([]);
  });
});
