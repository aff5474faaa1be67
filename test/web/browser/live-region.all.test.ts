import { describe } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, type OpenOptions, useBrowser } from '../fixtures/browser.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

/** Opens a link and records every change of the live region, including empty text. */
async function listenAt(path: string, options?: OpenOptions) {
  const { page } = await open('about:blank', options);
  await page.goto(service.baseUrl + service.pageFor(path));
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

describe('live region', () => {
  it('announces every copy', async () => {
    const { press, times } = await listenAt('/site/combined/twice', { permissions: ['clipboard-write'] });
    await press('Copy media link');
    await eventually(() => times(/^Copied\.$/)).toBe(1);
    // The button says so for a moment.
    await press(/^(Copied|Copy media link)$/);
    await eventually(() => times(/^Copied\.$/)).toBe(2);
  });
});
