import type { BrowserContext, Page } from 'playwright-core';
import { describe } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, useBrowser } from '../fixtures/browser.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

const select = (page: Page) => page.locator('footer select').first();
const language = (page: Page) =>
  eventually(() => page.evaluate(() => [document.documentElement.lang, document.querySelector('select')?.value]));
/** As when offline, or after a deployment. */
const withoutGerman = (page: Page) => page.route(/\/assets\/de-/, (route) => route.abort());

/** Makes storage methods throw, as private windows and full disks do. */
const refuse = (context: BrowserContext, names: readonly ('getItem' | 'setItem')[]) =>
  context.addInitScript((methods) => {
    for (const method of methods)
      Storage.prototype[method] = () => {
        throw new DOMException('Refused', 'SecurityError');
      };
  }, names);

describe('page language', () => {
  it('keeps the current language when another fails to load', async () => {
    const { page } = await open(`${service.baseUrl}/`);
    await withoutGerman(page);
    const asked = page.waitForEvent('requestfailed');
    await select(page).selectOption('de');
    await asked;
    await language(page).toEqual(['en', 'en']);
    await page.reload();
    await language(page).toEqual(['en', 'en']);
    // Only the request failed: the next load has it.
    await page.unroute(/\/assets\/de-/);
    await page.reload();
    await select(page).selectOption('de');
    await language(page).toEqual(['de', 'de']);
  });

  it('falls back to the next preferred language', async () => {
    const { page, context } = await open('about:blank', { locale: 'fr' });
    await context.addInitScript(() => localStorage?.setItem('reelay.language', 'de'));
    await withoutGerman(page);
    await page.goto(`${service.baseUrl}/`);
    await language(page).toEqual(['fr', 'fr']);
  });

  it.each([
    ['be written', ['setItem']],
    ['be read', ['getItem']],
    ['be used at all', ['getItem', 'setItem']],
  ] as const)('can be changed when storage cannot %s', async (_, names) => {
    const { page, context } = await open('about:blank', { locale: 'fr' });
    await refuse(context, names);
    await page.goto(`${service.baseUrl}/`);
    await language(page).toEqual(['fr', 'fr']);
    await select(page).selectOption('de');
    await language(page).toEqual(['de', 'de']);
  });
});
