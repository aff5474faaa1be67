import type { Page } from 'puppeteer-core';
import { describe, expect } from 'vitest';
import { buildExtension } from '../../../scripts/build-extension.ts';
import { itInFirefox as it } from '../../support/firefox.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { eventually } from '../fixtures/eventually.ts';
import { useFirefox } from '../fixtures/firefox.ts';
import { useService } from '../fixtures/page.ts';

const service = useService();
const { open, install } = useFirefox();

const media = (page: Page) =>
  page.$eval('video', ({ currentSrc, currentTime, controls, paused, error, seekable }) => ({
    isByLibrary: currentSrc.startsWith('blob:'),
    heldSeconds: seekable.length > 0 ? seekable.end(0) - seekable.start(0) : 0,
    currentTime,
    controls,
    paused,
    error,
  }));
const playsFrom = (page: Page, seconds: number) =>
  eventually(async () => (await media(page)).currentTime).toBeGreaterThan(seconds);

/** Opens a link and plays it. */
async function play(path: string) {
  const opened = await open(service.baseUrl + service.pageFor(path));
  await opened.click('button', /^Play$/);
  await opened.page.waitForSelector('video');
  return opened;
}

// What depends on the browser: media, the element that moves, the clipboard, and extensions.
describe('the page in Firefox', () => {
  it('plays, seeks, and continues in a corner while another link is opened', async () => {
    const { page, enter, find } = await play('/files/long.mp4');
    await playsFrom(page, 0);
    await eventually(() => page.evaluate(() => navigator.mediaSession.metadata?.title)).toBe('long');
    await page.$eval('video', (video) => {
      video.currentTime = 240;
    });
    await playsFrom(page, 240);
    expect(await media(page)).toMatchObject({ paused: false, error: null, controls: true });
    const before = (await media(page)).currentTime;
    await enter(service.origin.url('/site/combined/meanwhile'));
    await find('article h2', /meanwhile/);
    await playsFrom(page, before);
    expect((await media(page)).paused).toBe(false);
    await page.$eval('aside button', (button) => button.click());
    await eventually(async () => (await media(page)).paused).toBe(true);
  });

  it('goes back in a live stream, by a library', async () => {
    const { page, click } = await play('/live/index.m3u8');
    await click('button', /^Go back$/);
    await eventually(async () => (await media(page)).heldSeconds).toBeGreaterThan(5);
    await playsFrom(page, 0);
    expect(await media(page)).toMatchObject({ isByLibrary: true, error: null });
  });

  it('opens links that are pasted or dropped anywhere', async () => {
    const { page, find } = await open(service.baseUrl);
    // The clipboard is only accessible by its keys.
    await page.waitForSelector('input[name=url]:focus');
    await page.keyboard.type(service.origin.url('/site/combined/pasted'));
    for (const key of ['a', 'x', 'v'] as const) {
      if (key === 'v') await page.focus('main');
      await page.keyboard.down('Control');
      await page.keyboard.press(key);
      await page.keyboard.up('Control');
    }
    await find('article h2', /pasted/);
    await page.evaluate((link) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData('text/plain', link);
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
    }, service.origin.url('/site/combined/dropped'));
    await find('article h2', /dropped/);
  });

  it('accepts the extension', async () => {
    const [, built = ''] = await buildExtension(await temporaryFolder());
    expect(await install(built)).toBe('extension@reelay.example');
  });
});
