import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, type OpenOptions, selectFormat, useBrowser } from '../fixtures/browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const proxy = useFaultProxy(() => service.baseUrl);
const { open } = useBrowser();

/** Opens a link and records every change of the live region, including empty text. */
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

/** A picker that is dismissed at once. */
const dismissPicker = (page: Page) =>
  page.addInitScript(() =>
    Object.assign(globalThis, {
      showSaveFilePicker: async () => {
        throw new DOMException('Dismissed', 'AbortError');
      },
    }),
  );

describe('live region', () => {
  it('announces every copy', async () => {
    const { press, times } = await listenAt('/site/combined/twice', { permissions: ['clipboard-write'] });
    await press('Copy media link');
    await eventually(() => times(/^Copied\.$/)).toBe(1);
    // The button says so for a moment.
    await press(/^(Copied|Copy media link)$/);
    await eventually(() => times(/^Copied\.$/)).toBe(2);
  });

  it('announces 50 % once, whatever the pauses', async () => {
    const { page, press, times } = await listenAt('/files/long.mp4', { permissions: ['clipboard-write'] });
    // The file has 8.4 MB.
    proxy.hold('/api/Stream/', 6_000_000);
    await selectFormat(page, /MP4/);
    await press(/^Download ./);
    await eventually(() => times(/^50% of .* downloaded\.$/)).toBe(1);
    await press(/^Pause /);
    // Another announcement in between must not repeat it.
    await press('Copy media link');
    await eventually(() => times(/^Copied\.$/)).toBe(1);
    proxy.hold('/api/Stream/', 300_000);
    await press(/^Resume /);
    await page.locator('.download-figures .running').waitFor({ state: 'attached' });
    await press(/^Pause /);
    await press(/^Resume /);
    await eventually(() => times(/^Download finished: /)).toBe(1);
    expect(await Promise.all([times(/^50% of /), times(/^Download started: /)])).toEqual([1, 1]);
  });

  it('announces a dismissed picker as cancelled, not as started', async () => {
    const { press, times, heard } = await listenAt('/site/combined/dismissed', { withoutPicker: false });
    await press(/^Download ./);
    await eventually(heard).toEqual([expect.stringMatching(/^Download cancelled: .*\.mp4\.$/)]);
    expect(await times(/started|finished/)).toBe(0);
  });
});
