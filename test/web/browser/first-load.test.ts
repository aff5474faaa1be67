import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, useBrowser } from '../fixtures/browser.ts';
import { scriptedPage } from '../fixtures/scripted-page.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

/** As the page promises: the whole first load, compressed. Requests: the page, its program and looks, one language. */
const MOST_BYTES = 60_000;
const MOST_REQUESTS = 8;
/** What web.dev/cls calls good. */
const MOST_SHIFT = 0.1;

/** What came over the line, headers too, as the browser counts it. */
async function load(address: string) {
  const { page, context, requests } = await open('about:blank');
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.goto(address, { waitUntil: 'networkidle' });
  const hosts = new Set(requests.map((request) => new URL(request.url()).host));
  hosts.delete('');
  return { page, bytes, hosts: [...hosts], requests: requests.filter((request) => request.url().startsWith('http')) };
}

/** Sums what moves without being asked to. */
const measureShift = (page: Page) =>
  page.addInitScript(() => {
    const measured = { shift: 0 };
    Object.assign(globalThis, { measured });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[])
        if (!entry.hadRecentInput) measured.shift += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
const shiftOf = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as { measured: { shift: number } }).measured.shift);

describe('the first load', () => {
  it.each(['/', '/status'])('of %s is light, and asks nobody else', async (path) => {
    const { page, bytes, hosts, requests } = await load(service.baseUrl + path);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(hosts).toEqual([new URL(service.baseUrl).host]);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
    const own = requests.filter((request) => !request.url().includes('/api/'));
    expect(own.length, own.map((request) => request.url()).join('\n')).toBeLessThanOrEqual(MOST_REQUESTS);
  });

  it('asks the instance for nothing until there is a link', async () => {
    const { requests } = await load(`${service.baseUrl}/`);
    expect(requests.filter((request) => request.url().includes('/api/'))).toEqual([]);
  });

  it('leads to the media only once a link is resolved: its cover alone', async () => {
    const earlier = service.origin.requestsTo('/files/').length;
    const { page, hosts } = await load(service.baseUrl + service.pageFor('/site/combined/cover'));
    await page.getByRole('article').waitFor();
    expect(hosts).toEqual([new URL(service.baseUrl).host, service.origin.host]);
    const files = service.origin.requestsTo('/files/').slice(earlier);
    expect(files.every(({ path }) => path.endsWith('.jpg'))).toBe(true);
    const cover = files.at(-1);
    // Where covers are kept learns nothing of who looks.
    expect([cover?.headers.referer, cover?.headers.cookie]).toEqual([undefined, undefined]);
  });

  it.each([
    [320, 640],
    [1280, 800],
  ])('moves nothing from the shape of a result to the result, %i pixels wide', async (width, height) => {
    scriptedPage.hold();
    const { page } = await open('about:blank', { viewport: { width, height } });
    await measureShift(page);
    await page.goto(service.baseUrl + service.pageFor(`/scripted/${width}`));
    await page.locator('.skeleton').first().waitFor();
    scriptedPage.respondWith(200);
    await page.getByRole('article').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await shiftOf(page)).toBeLessThan(MOST_SHIFT);
  });

  it('runs nothing that its policy does not name', async () => {
    const { page } = await open(`${service.baseUrl}/`, { expectedErrors: /Content Security Policy/ });
    await page.getByRole('heading', { level: 1 }).waitFor();
    const told: string[] = [];
    await page.exposeFunction('tell', (directive: string) => told.push(directive));
    const isBroken = await page.evaluate(() => {
      const { tell } = globalThis as unknown as { tell(directive: string): void };
      addEventListener('securitypolicyviolation', ({ effectiveDirective }) => tell(effectiveDirective));
      const script = document.createElement('script');
      script.textContent = 'globalThis.isBroken = true';
      document.body.append(script);
      document.body.insertAdjacentHTML('beforeend', '<p style="color: red">');
      fetch('http://reelay.example').catch(() => undefined);
      return 'isBroken' in globalThis;
    });
    expect(isBroken).toBe(false);
    await eventually(() => [...new Set(told)].sort()).toEqual(['connect-src', 'script-src-elem', 'style-src-attr']);
  });

  it('can be installed: the manifest leads to icons that are there', async () => {
    const { page } = await open(`${service.baseUrl}/`);
    const href = await page.locator('link[rel=manifest]').getAttribute('href');
    const manifest = await (await fetch(new URL(href ?? '', service.baseUrl))).json();
    expect(manifest.start_url).toBe('/');
    for (const { src, sizes } of manifest.icons) {
      const size = await page.evaluate(async (address) => {
        const image = new Image();
        image.src = address;
        await image.decode();
        return `${image.naturalWidth}x${image.naturalHeight}`;
      }, src);
      if (sizes !== 'any') expect(size).toBe(sizes);
    }
    const [light, dark] = await page.locator('meta[name=theme-color]').all();
    for (const [scheme, meta] of [
      ['light', light],
      ['dark', dark],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const root = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      const says = await meta?.getAttribute('content');
      expect([ground, root]).toContain(rgb(says ?? ''));
    }
  });

  it('is there without JavaScript too, as far as it goes', async () => {
    const { page } = await open(`${service.baseUrl}/`, { javaScriptEnabled: false, withoutPicker: false });
    const note = page.locator('noscript');
    expect(await note.innerText()).toContain('This page needs JavaScript');
    expect(await note.getByRole('link').isVisible()).toBe(true);
  });
});

const rgb = (hex: string): string =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(', ')})`;
