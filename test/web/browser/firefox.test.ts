import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect } from 'vitest';
import { itInFirefox as it } from '../../support/firefox.ts';
import { eventually } from '../fixtures/browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { useFirefox } from '../fixtures/firefox.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const proxy = useFaultProxy(() => service.baseUrl);
const { open, download } = useFirefox();

const titleOf = (id: string) => `Größe “${id}”: eins/zwei`;
const digest = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
const original = (name: string) => digest(join(service.origin.mediaDir, name));

describe('the page in Firefox', () => {
  it('resolves a typed link, plays it and seeks', async () => {
    const { page, enter, find, click } = await open(service.baseUrl);
    await enter(service.origin.url('/files/long.mp4'));
    await find('article h2');
    await click('button', /^Play$/);
    const media = () => page.$eval('video', ({ currentTime, paused, error }) => ({ currentTime, paused, error }));
    await page.waitForSelector('video');
    await eventually(async () => (await media()).currentTime).toBeGreaterThan(0);
    await page.$eval('video', (video) => {
      video.currentTime = 240;
    });
    await eventually(async () => (await media()).currentTime).toBeGreaterThan(240);
    await page.keyboard.press('j');
    await eventually(async () => (await media()).currentTime).toBeLessThan(240);
    expect(await media()).toMatchObject({ paused: false, error: null });
  });

  it('continues to play in a corner while another link is opened', async () => {
    const { page, enter, find, click } = await open(service.baseUrl + service.pageFor('/files/long.mp4'));
    await click('button', /^Play$/);
    await page.waitForSelector('video');
    await eventually(() => page.$eval('video', ({ currentTime }) => currentTime)).toBeGreaterThan(0);
    const before = await page.$eval('video', ({ currentTime }) => currentTime);
    await enter(service.origin.url('/site/combined/meanwhile'));
    await find('article h2', /meanwhile/);
    await find('.mini-player a');
    await eventually(() => page.$eval('video', ({ currentTime }) => currentTime)).toBeGreaterThan(before);
    expect(await page.$eval('video', ({ paused }) => paused)).toBe(false);
  });

  it('downloads a file, pauses and resumes it at the exact byte', async () => {
    const before = proxy.rangesOf('/api/Stream/').length;
    proxy.hold('/api/Stream/', 300_000);
    const { find, click, says } = await open(proxy.baseUrl + service.pageFor('/files/long.mp4'));
    await click('button', /^Download ./);
    await find('.download-figures', /[1-9].* of \d/);
    await click('button', /^Pause /);
    await says('Paused');
    await click('button', /^Resume /);
    await says('Saved');
    const path = await download();
    expect(await digest(path)).toBe(await original('long.mp4'));
    const [whole, rest] = proxy.rangesOf('/api/Stream/').slice(before);
    expect([whole, rest]).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)]);
  });

  it('opens several links as a batch', async () => {
    const links = ['one', 'two'].map((id) => service.origin.url(`/site/combined/${id}`));
    const query = links.map((link) => `url=${encodeURIComponent(link)}`).join('&');
    const { find } = await open(`${service.baseUrl}/?${query}`);
    await find('.entry', /Größe “one”/);
    await find('.entry', /Größe “two”/);
    await find('button', /^Download all \(2\)$/);
  });

  it('downloads an entry of a playlist under its number', async () => {
    const { click, find, says } = await open(service.baseUrl + service.pageFor('/site/list/fox?n=3&dead=2'));
    await find('li', /Removed or private/);
    await click('button', new RegExp(`^Download ${titleOf('fox-3')}`));
    await says('Saved');
    expect(basename(await download())).toMatch(/^3 - /);
  });

  it('shares an address with the format in it', async () => {
    const { page, click, find } = await open(service.baseUrl + service.pageFor('/site/combined/shared'));
    await click('input[type=radio] ~ .choice-name', /^360p/);
    await click('button', /^Share$/);
    await find('svg.qr', /QR code/);
    await find('button', /^Copy link$/);
    expect(await page.$$eval('article', (articles) => articles.length)).toBe(1);
  });

  it('changes its language, also for what is loaded on demand', async () => {
    const { page, find } = await open(service.baseUrl + service.pageFor('/site/combined/sprache'));
    await find('button', /^Download ./);
    await page.select('footer select', 'de');
    await find('button', /^720p herunterladen|^.*herunterladen/);
    await eventually(() => page.evaluate(() => document.documentElement.lang)).toBe('de');
    await page.select('footer select', 'ar');
    await eventually(() => page.evaluate(() => document.documentElement.dir)).toBe('rtl');
  });

  it.each([
    ['/site/login/x', 'Sign-in required'],
    ['/site/drm/x', 'Protected content'],
    ['/files/nowhere.mp4', 'Nothing found'],
  ])('explains a failure: %s', async (path, title) => {
    const { find } = await open(service.baseUrl + service.pageFor(path));
    await find('h2', new RegExp(`^${title}$`));
  });

  it('works without storage, as in a window that forbids it', async () => {
    const { find, says, enter, click } = await open(service.baseUrl, {
      prepare: () => {
        for (const name of ['getItem', 'setItem', 'removeItem'] as const)
          Storage.prototype[name] = () => {
            throw new DOMException('Refused', 'SecurityError');
          };
        Object.defineProperty(navigator, 'storage', { value: undefined });
      },
    });
    await enter(service.origin.url('/site/combined/private'));
    await find('article h2', /private/);
    await click('button', /^Download ./);
    // Without parts to store, the browser downloads by itself.
    await says('Continues in your browser');
    expect((await readFile(await download())).length).toBeGreaterThan(10_000);
  });
});
