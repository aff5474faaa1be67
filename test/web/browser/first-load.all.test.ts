import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, useBrowser } from '../fixtures/browser.ts';
import { scriptedPage } from '../fixtures/scripted-page.ts';
import { useService } from '../fixtures/service.ts';
import { measureShift, shiftOf } from './layout-problems.ts';

const service = useService();
const { open } = useBrowser();

/** Compressed bytes of the first load. Requests: page, scripts, styles, one locale. */
const MAX_BYTES = 30_000;
/** With a result, without its cover. */
const MAX_BYTES_WITH_RESULT = 70_000;
const MAX_REQUESTS = 6;
/** A tenth of what is "good" by web.dev/cls. */
const MAX_SHIFT = 0.01;

/** Transferred bytes of the service including headers, as the browser counts them. */
async function load(address: string) {
  const { page, context, requests } = await open('about:blank');
  const session = await context.newCDPSession(page);
  await session.send('Network.enable');
  let bytes = 0;
  const foreign = new Set<string>();
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (!request.url.startsWith(service.baseUrl)) foreign.add(requestId);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    if (!foreign.has(requestId)) bytes += encodedDataLength;
  });
  await page.goto(address, { waitUntil: 'networkidle' });
  /** Hosts requested so far. */
  const hosts = () =>
    [...new Set(requests.map((request) => new URL(request.url()).host))].filter((host) => host !== '');
  return { page, bytes, hosts, requests: requests.filter((request) => request.url().startsWith('http')) };
}

describe('first load', () => {
  it('stays within its byte and request budget, from one host', async () => {
    const { page, bytes, hosts, requests } = await load(`${service.baseUrl}/`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(hosts()).toEqual([new URL(service.baseUrl).host]);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    const own = requests.filter((request) => !request.url().includes('/api/'));
    expect(own.length, own.map((request) => request.url()).join('\n')).toBeLessThanOrEqual(MAX_REQUESTS);
  });

  it('stays within its byte budget with a result, without the cover', async () => {
    const { page, bytes, requests } = await load(service.baseUrl + service.pageFor('/site/combined/light'));
    await page.getByRole('article').waitFor();
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES_WITH_RESULT);
    expect(requests.filter((request) => request.url().includes('swagger'))).toEqual([]);
  });

  it('sends no API request before a link is entered', async () => {
    const { requests } = await load(`${service.baseUrl}/`);
    expect(requests.filter((request) => request.url().includes('/api/'))).toEqual([]);
  });

  it('loads only the cover from the media host', async () => {
    const earlier = service.origin.requestsTo('/files/').length;
    const { page, hosts } = await load(service.baseUrl + service.pageFor('/site/combined/cover'));
    await page.getByRole('article').waitFor();
    // The cover is requested once the result has been rendered.
    await expect.poll(hosts).toEqual([new URL(service.baseUrl).host, service.origin.host]);
    await expect.poll(() => service.origin.requestsTo('/files/').length).toBeGreaterThan(earlier);
    const files = service.origin.requestsTo('/files/').slice(earlier);
    expect(files.every(({ path }) => path.endsWith('.jpg'))).toBe(true);
    const cover = files.at(-1);
    // The cover's host must not learn the visitor's page or cookies.
    expect([cover?.headers.referer, cover?.headers.cookie]).toEqual([undefined, undefined]);
  });

  it.each([
    [320, 640],
    [1280, 800],
  ])('has no layout shift from skeleton to result at %i px', async (width, height) => {
    scriptedPage.hold();
    const { page } = await open('about:blank', { viewport: { width, height } });
    await measureShift(page);
    await page.goto(service.baseUrl + service.pageFor(`/scripted/${width}`));
    await page.locator('.skeleton').first().waitFor();
    scriptedPage.respondWith(200);
    await page.getByRole('article').waitFor();
    await page.waitForLoadState('networkidle');
    expect(await shiftOf(page)).toBeLessThan(MAX_SHIFT);
  });

  describe('prerendered field', () => {
    /** Opens an address whose script has not loaded. @returns a function that lets it load */
    const openWithoutScript = async (path: string, locale = 'en') => {
      const { page } = await open('about:blank', { locale });
      let letLoad: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        letLoad = resolve;
      });
      await page.route('**/assets/shell-*.js', async (route) => {
        await held;
        await route.continue();
      });
      await measureShift(page);
      await page.goto(service.baseUrl + path, { waitUntil: 'commit' });
      await page.getByRole('textbox').waitFor();
      return { page, letLoad };
    };

    it('keeps its element, text and focus when the script takes over', async () => {
      const { page, letLoad } = await openWithoutScript('/');
      const field = page.getByRole('textbox');
      await field.pressSequentially('https://typed.example/early');
      const element = await field.elementHandle();
      letLoad();
      await page.getByRole('button', { name: 'Clear' }).waitFor();
      expect(await field.inputValue()).toBe('https://typed.example/early');
      expect(await element?.evaluate((input) => [input.isConnected, input === document.activeElement])).toEqual([
        true,
        true,
      ]);
      expect(await shiftOf(page)).toBeLessThan(MAX_SHIFT);
    });

    it('submits its link without a script', async () => {
      const { page } = await openWithoutScript('/');
      const link = service.origin.url('/site/combined/early');
      await page.getByRole('textbox').fill(link);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${service.baseUrl}/?url=${encodeURIComponent(link)}`, { waitUntil: 'commit' });
    });

    it('is where it stays above a result', async () => {
      const { page, letLoad } = await openWithoutScript(service.pageFor('/site/combined/above'));
      const before = await page.locator('form').boundingBox();
      letLoad();
      await page.getByRole('article').waitFor();
      expect(await page.locator('form').boundingBox()).toEqual(before);
      expect(await shiftOf(page)).toBeLessThan(MAX_SHIFT);
    });

    it('shows no English to speakers of another language', async () => {
      const { page, letLoad } = await openWithoutScript('/', 'ar');
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(0);
      expect(await page.evaluate(() => document.documentElement.dir)).toBe('rtl');
      letLoad();
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.evaluate(() => document.documentElement.className)).toBe('');
    });
  });

  it('blocks what the Content-Security-Policy does not allow', async () => {
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

  it('is installable: every icon of the manifest loads', async () => {
    const { page } = await open(`${service.baseUrl}/`);
    const href = await page.locator('link[rel=manifest]').getAttribute('href');
    const manifest = await (await fetch(new URL(href ?? '', service.baseUrl))).json();
    expect(new URL(manifest.start_url, `${service.baseUrl}/manifest.webmanifest`).pathname).toBe('/');
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

  it('shows a notice without JavaScript', async () => {
    const { page } = await open(`${service.baseUrl}/`, { javaScriptEnabled: false });
    const note = page.locator('noscript');
    expect(await note.innerText()).toContain('This page needs JavaScript');
    expect(await note.getByRole('link').isVisible()).toBe(true);
  });
});

const rgb = (hex: string): string =>
  `rgb(${[1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(', ')})`;
