import type { Route } from 'playwright-core';
import { describe, expect } from 'vitest';
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

  it.each([
    ['a new version of the page is deployed', (route: Route) => route.fulfill({ status: 404 })],
    ['the connection is lost', (route: Route) => route.abort()],
  ])('says that the result cannot be shown where %s, and another try shows it', async (_, answer) => {
    const { page } = await open(`${service.baseUrl}/`);
    await page.getByRole('combobox', { name: 'Theme' }).waitFor();
    const region = page.locator('p[role=status]');
    const isBefore = await region.elementHandle();
    await page.route('**/assets/shown-result-*', answer);
    await page.getByRole('textbox').fill(service.origin.url('/site/combined/unloaded'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Can’t reach the server' }).waitFor();
    // Also once the link is resolved, which is not what is to be seen.
    await page.waitForLoadState('networkidle');
    await eventually(() => region.textContent()).toBe('Can’t reach the server. It may be down. Try again in a moment.');
    expect(await isBefore?.evaluate((one) => one.isConnected)).toBe(true);
    await page.unroute('**/assets/shown-result-*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('article').waitFor();
  });

  it('says that the player cannot be loaded, and another try loads it', async () => {
    const { page, press } = await listenAt('/site/combined/unplayed');
    await page.route('**/assets/player-*.js', (route) => route.abort());
    await press(/^Play$/);
    await page.getByRole('status').getByText('Can’t reach the server.').waitFor({ state: 'attached' });
    await page.unroute('**/assets/player-*.js');
    await press('Try again');
    await press(/^Play$/);
    await page.locator('video').waitFor();
  });
});
