import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Page } from 'puppeteer-core';
import { describe, expect } from 'vitest';
import { buildExtension } from '../../../scripts/build-extension.ts';
import { itInFirefox as it } from '../../support/firefox.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { eventually } from '../fixtures/browser.ts';
import { useFirefox } from '../fixtures/firefox.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open, install, download } = useFirefox();

const titleOf = (id: string) => `Größe “${id}”: eins/zwei`;
async function pressWithControl(page: Page, key: 'a' | 'x' | 'v'): Promise<void> {
  await page.keyboard.down('Control');
  await page.keyboard.press(key);
  await page.keyboard.up('Control');
}

// What depends on the browser: media, storage, the clipboard, downloads and extensions.
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
    expect(await media()).toMatchObject({ paused: false, error: null });
    expect(await page.$eval('video', ({ controls }) => controls)).toBe(true);
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('url');
    expect(await page.$$eval('video', ({ length }) => length)).toBe(1);
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
    await page.$eval('.mini-player button', (button) => button.click());
    await eventually(() => page.$eval('video', ({ paused }) => paused)).toBe(true);
  });

  it('goes back in a live stream, by a library', async () => {
    const { page, click } = await open(service.baseUrl + service.pageFor('/live/index.m3u8'));
    await click('button', /^Play$/);
    await page.waitForSelector('video');
    await click('button', /^Go back$/);
    const played = () =>
      page.$eval('video', ({ currentSrc, currentTime, seekable, error }) => ({
        isByLibrary: currentSrc.startsWith('blob:'),
        isPlaying: currentTime > 0,
        canSeek: seekable.length > 0 && seekable.end(0) - seekable.start(0) > 5,
        error,
      }));
    await eventually(played).toEqual({ isByLibrary: true, isPlaying: true, canSeek: true, error: null });
  });

  it('opens links that are pasted or dropped anywhere', async () => {
    const { page, find } = await open(service.baseUrl);
    // The clipboard is only accessible by its keys.
    await page.waitForSelector('input[name=url]:focus');
    await page.keyboard.type(service.origin.url('/site/combined/pasted'));
    await pressWithControl(page, 'a');
    await pressWithControl(page, 'x');
    await page.focus('main');
    await pressWithControl(page, 'v');
    await find('article h2', /pasted/);
    await page.evaluate((link) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData('text/plain', link);
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true }));
    }, service.origin.url('/site/combined/dropped'));
    await find('article h2', /dropped/);
  });

  it('plays with subtitles and chapters, tells the system what plays, and downloads a clip', async () => {
    const { page, find, click, says } = await open(service.baseUrl + service.pageFor('/site/detailed/played'));
    await find('.media-length');
    await click('button', /^Play$/);
    await page.waitForSelector('video track', { hidden: true });
    await eventually(() => page.evaluate(() => navigator.mediaSession.metadata?.title)).toBe(titleOf('played'));
    await click('summary', /^Details$/);
    await page.waitForSelector('.chapters button');
    await page.$eval('.chapters li:last-child button', (chapter) => (chapter as HTMLElement).click());
    await eventually(() => page.$eval('video', ({ currentTime }) => currentTime)).toBeGreaterThan(1.4);
    const menu = (await page.waitForSelector('.player-tools label:first-of-type select')) ?? expect.fail('No menu');
    await menu.select('0');
    await eventually(() => page.$eval('video', ({ currentTime }) => currentTime)).toBeLessThan(1.4);
    await page.select('select[aria-label=Subtitles]', '2');
    await says('French subtitles');
    await click('button', /^Clip$/);
    await page.waitForSelector('.handles input');
    await page.focus('.handles input');
    await page.keyboard.press('ArrowRight');
    await says('0:01–0:0');
    for (const [index, time] of ['0:00.5', '0:01.5'].entries()) {
      const field = (await page.$$('.times input'))[index];
      await field?.evaluate((input) => (input as HTMLInputElement).select());
      await field?.type(time);
    }
    await says('0:00.5–0:01.5');
    // Its chapters can be downloaded, too.
    await click('summary', /^Details$/);
    await click('button', /^Download ./);
    expect(basename(await download())).toContain(' 0-00.5–0-01.5)');
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
    await says('Download started.');
    expect((await readFile(await download())).length).toBeGreaterThan(10_000);
  });

  it('accepts the extension', async () => {
    const [, built = ''] = await buildExtension(await temporaryFolder());
    expect(await install(built)).toBe('extension@reelay.example');
  });
});
