import { describe, expect } from 'vitest';
import { useFakeInstance } from '../fakes/instance.ts';
import { eventually, it, usePage } from '../fixtures/page.ts';
import { measureShift, shiftOf } from './layout-problems.ts';
import { addressOf } from './page-states.ts';

const { service, open, link } = usePage();
const instance = useFakeInstance();

/** Of the first load: page, scripts, styles, one locale. */
const MAX_REQUESTS = 6;
/** A tenth of what is "good" by web.dev/cls. */
const MAX_SHIFT = 0.01;

/** Transferred bytes of the service including headers, as the browser counts them, once nothing more is requested. */
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
  const hosts = () => [...new Set(requests.map((request) => new URL(request.url()).host))].filter(Boolean);
  return { page, bytes, hosts, urls: requests.map((request) => request.url()).filter((url) => url.startsWith('http')) };
}

describe('first load', () => {
  it('stays within its byte and request budget, from one host, and asks the API only once all of it is there', async () => {
    const { page, bytes, hosts, urls: all } = await load('/');
    const urls = all.filter((url) => url !== `${service.baseUrl}/api/App`);
    expect(all.length - urls.length).toBe(1);
    expect(
      await page.evaluate(() => {
        const all = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
        const [asked, ...others] = all.sort(
          (a, b) => Number(b.name.includes('/api/')) - Number(a.name.includes('/api/')),
        );
        const parts = others.filter(({ name }) => name.includes('/assets/'));
        return parts.length > 3 && parts.every(({ responseEnd }) => responseEnd <= (asked?.startTime ?? 0));
      }),
    ).toBe(true);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(hosts()).toEqual([new URL(service.baseUrl).host]);
    expect(bytes).toBeGreaterThan(10_000);
    expect(bytes).toBeLessThanOrEqual(30_000);
    expect(urls.length, urls.join('\n')).toBeLessThanOrEqual(MAX_REQUESTS);
    expect(urls.filter((url) => url.includes('/api/'))).toEqual([]);
  });

  it('of a result stays within its byte budget without the cover, which alone is of the media host', async () => {
    const earlier = service.origin.requestsTo('/files/').length;
    const { page, bytes, hosts, urls } = await load(service.pageFor('/site/combined/cover'));
    await page.getByRole('article').waitFor();
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThanOrEqual(70_000);
    expect(urls.filter((url) => url.includes('swagger'))).toEqual([]);
    // The cover is requested once the result has been rendered.
    await eventually(hosts).toEqual([new URL(service.baseUrl).host, service.origin.host]);
    const files = () => service.origin.requestsTo('/files/').slice(earlier);
    await eventually(() => files().length).toBeGreaterThan(0);
    // The cover's host must not learn the visitor's page or cookies.
    for (const { path, headers } of files())
      if (path.endsWith('.jpg')) expect([headers.referer, headers.cookie]).toEqual([undefined, undefined]);
    expect(files().filter(({ path }) => !path.endsWith('.jpg'))).toEqual([]);
  });

  it('names sites that the instance reads and links to try, with no layout shift', async () => {
    const visitor = await open('about:blank', { viewport: { width: 320, height: 640 } });
    const { page } = visitor;
    await measureShift(page);
    await page.goto(instance.baseUrl);
    await visitor.says('YouTube, Vimeo, TikTok, and 1,248 other sites');
    expect(await shiftOf(page)).toBeLessThan(MAX_SHIFT);
    await page.getByRole('link', { name: 'A video' }).click();
    await page.waitForURL((url) => url.searchParams.get('url') === 'https://video.example/watch/o');
  });

  it.each([
    [320, 'video', '1:02:03'],
    [1280, 'video', '1:02:03'],
    [390, 'list', 'Nothing found'],
    [1280, 'list', 'Nothing found'],
  ])('has no layout shift from skeleton to result at %i px: %s', async (width, name, last) => {
    const visitor = await open('about:blank', { viewport: { width, height: 800 } });
    const { page } = visitor;
    const release = await visitor.hold('**/GetResource*');
    await measureShift(page);
    await page.goto(instance.baseUrl + addressOf(name));
    await page.locator('[aria-busy=true] .skeleton').first().waitFor();
    release();
    await visitor.says(last);
    await page.locator('.skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' });
    await page.waitForLoadState('networkidle');
    expect(await shiftOf(page)).toBeLessThan(MAX_SHIFT);
  });

  describe('prerendered field', () => {
    /** Opens an address whose script loads once that is let. */
    const openWithoutScript = async (path: string, locale = 'en') => {
      const visitor = await open('about:blank', { locale });
      const { page, field } = visitor;
      const letLoad = await visitor.hold('**/assets/shell-*.js');
      await measureShift(page);
      await page.goto(path, { waitUntil: 'commit' });
      await field.waitFor();
      return { visitor, page, field, letLoad };
    };

    it('keeps its element, text and focus when the script takes over', async () => {
      const { visitor, page, field, letLoad } = await openWithoutScript('/');
      await field.pressSequentially('https://typed.example/early');
      const element = await field.elementHandle();
      letLoad();
      await visitor.button('Clear').waitFor();
      expect(await field.inputValue()).toBe('https://typed.example/early');
      expect(await element?.evaluate((input) => input.isConnected && input === document.activeElement)).toBe(true);
      expect(await shiftOf(page)).toBeLessThan(MAX_SHIFT);
    });

    it('submits its link without a script', async () => {
      const { visitor, page } = await openWithoutScript('/');
      const address = link('/site/combined/early');
      await visitor.enter(address);
      await page.waitForURL(`${service.baseUrl}/?url=${encodeURIComponent(address)}`, { waitUntil: 'commit' });
    });

    it('is where it stays above a result', async () => {
      const { visitor, page, field, letLoad } = await openWithoutScript(service.pageFor('/site/combined/above'));
      const before = await field.boundingBox();
      letLoad();
      await visitor.item();
      expect((await field.boundingBox())?.y).toBe(before?.y);
      expect(await shiftOf(page)).toBeLessThan(MAX_SHIFT);
    });

    it('shows no English to speakers of another language', async () => {
      const { page, letLoad } = await openWithoutScript('/', 'ar');
      const heading = page.getByRole('heading', { level: 1 });
      expect(await heading.count()).toBe(0);
      expect(await page.evaluate(() => document.documentElement.dir)).toBe('rtl');
      letLoad();
      await heading.waitFor();
    });
  });

  it('blocks what the Content-Security-Policy does not allow', async () => {
    const { page } = await open('/', { expectedErrors: /Content Security Policy/ });
    await page.getByRole('heading', { level: 1 }).waitFor();
    const told = new Set<string>();
    await page.exposeFunction('tell', (directive: string) => void told.add(directive));
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
    await eventually(() => [...told].sort()).toEqual(['connect-src', 'script-src-elem', 'style-src-attr']);
  });

  it('is installable: every icon of the manifest loads, and the window has the colour of the page', async () => {
    const { page } = await open();
    const href = await page.locator('link[rel=manifest]').getAttribute('href');
    const manifest = await (await fetch(new URL(href ?? '', service.baseUrl))).json();
    expect(new URL(manifest.start_url, `${service.baseUrl}/manifest.webmanifest`).pathname).toBe('/');
    for (const { src, sizes } of manifest.icons) {
      const size = await page.evaluate(async (address) => {
        const image = Object.assign(new Image(), { src: address });
        await image.decode();
        return `${image.naturalWidth}x${image.naturalHeight}`;
      }, src);
      if (sizes !== 'any') expect(size).toBe(sizes);
    }
    for (const [index, colorScheme] of (['light', 'dark'] as const).entries()) {
      await page.emulateMedia({ colorScheme });
      const [wanted, grounds] = await page.evaluate((at) => {
        const [probe, ...shown] = [document.createElement('p'), document.body, document.documentElement];
        document.body.append(probe);
        probe.style.color = document.querySelectorAll<HTMLMetaElement>('meta[name=theme-color]')[at]?.content ?? '';
        return [getComputedStyle(probe).color, shown.map((one) => getComputedStyle(one).backgroundColor)];
      }, index);
      expect(grounds).toContain(wanted);
    }
  });

  it('shows a notice without JavaScript', async () => {
    const { page } = await open('/', { javaScriptEnabled: false });
    const note = page.locator('noscript');
    expect(await note.innerText()).toContain('This page needs JavaScript');
    expect(await note.getByRole('link').isVisible()).toBe(true);
  });
});
