import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, type OpenOptions, useBrowser } from '../fixtures/browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const proxy = useFaultProxy(() => service.baseUrl);
const { open } = useBrowser();

/** Opens a link and keeps every change of what the page says politely, also the silence between two. */
async function listenAt(path: string, options?: OpenOptions) {
  const { page } = await open('about:blank', options);
  if (options?.withoutPicker === false) await dismissPicker(page);
  await page.goto(proxy.baseUrl + service.pageFor(path));
  await page.getByRole('article').waitFor();
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(globalThis, { heard });
    const voice = document.querySelector('p[role=status]') ?? document.body;
    new MutationObserver(() => heard.push(voice.textContent ?? '')).observe(voice, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  });
  const heard = () => page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
  return {
    page,
    heard,
    times: async (words: RegExp) => (await heard()).filter((text) => words.test(text)).length,
    press: (name: string | RegExp) => page.getByRole('button', { name }).click(),
  };
}

/** A picker whose window is closed as soon as it is there. */
const dismissPicker = (page: Page) =>
  page.addInitScript(() =>
    Object.assign(globalThis, {
      showSaveFilePicker: async () => {
        throw new DOMException('Dismissed', 'AbortError');
      },
    }),
  );

describe('who does not see the page is told', () => {
  it('each time that something is copied', async () => {
    const { press, times } = await listenAt('/site/combined/twice', { permissions: ['clipboard-write'] });
    await press('Copy stream link');
    await eventually(() => times(/^Copied\.$/)).toBe(1);
    await press(/^Copied$/);
    await eventually(() => times(/^Copied\.$/)).toBe(2);
  });

  it('that a download is half done once, whatever pauses it makes', async () => {
    const { page, press, times } = await listenAt('/files/long.mp4', { permissions: ['clipboard-write'] });
    // Of 8.4 MB.
    proxy.hold('/api/Stream/', 6_000_000);
    await page.getByRole('radio', { name: /MP4/ }).check();
    await press(/^Download ./);
    await eventually(() => times(/^50% of .* is here\.$/)).toBe(1);
    await press(/^Pause /);
    // What is said in between must not make it news.
    await press('Copy stream link');
    await eventually(() => times(/^Copied\.$/)).toBe(1);
    proxy.hold('/api/Stream/', 300_000);
    await press(/^Resume /);
    await page.locator('.download-figures .running').waitFor({ state: 'attached' });
    await press(/^Pause /);
    await press(/^Resume /);
    await eventually(() => times(/^Download finished: /)).toBe(1);
    expect(await Promise.all([times(/^50% of /), times(/^Download started: /)])).toEqual([1, 1]);
  });

  it('that a download is cancelled when no place is chosen for it, and not that it has begun', async () => {
    const { press, times, heard } = await listenAt('/site/combined/dismissed', { withoutPicker: false });
    await press(/^Download ./);
    await eventually(heard).toEqual([expect.stringMatching(/^Download cancelled: .*\.mp4\.$/)]);
    expect(await times(/started|finished/)).toBe(0);
  });
});
