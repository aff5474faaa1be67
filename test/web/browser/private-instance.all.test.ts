import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { hashAccessKey } from '../../../core/config/file-settings.ts';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, useBrowser } from '../fixtures/browser.ts';
import { useServiceWith } from '../fixtures/service.ts';

const KEY = 'key-of-a-private-page';
const service = useServiceWith(() => ({ accessKeys: [hashAccessKey(KEY)] }));
const browser = useBrowser();
const TITLE = /Größe “\w+”/;

describe('the page of a private instance', () => {
  it('asks for the key once, and then resolves, streams and reloads without asking', async () => {
    const { page, context, requests } = await browser.open(service.baseUrl + service.pageFor('/site/combined/private'));
    const dialog = page.getByRole('dialog', { name: 'This server is private' });
    await dialog.waitFor();
    await dialog.getByLabel('Access key').fill('another-key-of-length');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'didn’t accept this key' }).waitFor();
    await dialog.getByLabel('Access key').fill(KEY);
    await dialog.getByLabel('Remember on this device').check();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: TITLE }).first().waitFor();
    expect(await dialog.count()).toBe(0);

    const [cookie] = await context.cookies();
    expect(cookie).toMatchObject({ name: 'reelay-access-key', sameSite: 'Strict', path: '/' });
    expect(cookie?.expires).toBeGreaterThan(Date.now() / 1000 + 300 * 24 * 3600);
    const status = (path: string) => page.evaluate(async (address) => (await fetch(address)).status, path);
    expect(await status('/api/App/requests')).toBe(200);

    await page.reload();
    await page.getByRole('heading', { name: TITLE }).first().waitFor();
    expect(await dialog.count()).toBe(0);
    expect(requests.filter((request) => request.url().includes(KEY))).toEqual([]);
  });

  it('forgets a remembered key that is refused, also where the question is cancelled', async () => {
    const { page, context } = await browser.open(service.baseUrl + service.pageFor('/site/combined/changed'));
    const logged: string[] = [];
    page.on('console', (message) => logged.push(message.text()));
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Access key').fill('a-key-of-another-year');
    await dialog.getByLabel('Remember on this device').check();
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').filter({ hasText: 'didn’t accept this key' }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'This server is private', exact: true }).waitFor();
    expect(await context.cookies()).toEqual([]);

    // One that was accepted before.
    const cookie = { name: 'reelay-access-key', value: 'a-key-of-another-year', sameSite: 'Strict' } as const;
    await context.addCookies([{ ...cookie, url: service.baseUrl, expires: Date.now() / 1000 + 3600 }]);
    await page.getByRole('button', { name: 'Try again' }).click();
    await dialog.getByRole('alert').filter({ hasText: 'didn’t accept this key' }).waitFor();
    expect(await context.cookies()).toEqual([]);
    await dialog.getByLabel('Access key').fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: TITLE }).first().waitFor();
    expect(logged.filter((text) => text.includes('key-of'))).toEqual([]);
  });

  it('shows the failure when the question is cancelled, and asks again after a retry', async () => {
    const { page } = await browser.open(service.baseUrl + service.pageFor('/site/combined/cancelled'));
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'This server is private', exact: true }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Try again' }).click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await eventually(() => dialog.count()).toBe(0);
  });
});

/** The status of the links of a list for a client that has no key: a podcast client, a player. */
async function statusOfLinks(page: Page): Promise<number[]> {
  const hrefs = await page
    .locator('.toolbar-more a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('button', { name: 'Copy podcast feed' }).click();
  await page.getByRole('status').getByText('Copied.').waitFor();
  const feed = await page.evaluate(() => navigator.clipboard.readText());
  const addresses = [...hrefs.map((href) => href ?? ''), feed];
  return Promise.all(addresses.map(async (address) => (await fetch(address, { redirect: 'manual' })).status));
}

it('the links of a private list admit clients without the key', async () => {
  const { page } = await browser.open(service.baseUrl + service.pageFor('/site/list/private?n=3&dead=2'), {
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Access key').fill(KEY);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await page.locator('.toolbar-more a[href*="access="]').first().waitFor({ state: 'attached' });
  await page.locator('.entry.unavailable').waitFor();
  expect(await statusOfLinks(page)).toEqual([200, 200, 200]);
});
