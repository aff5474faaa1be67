import type { Page } from 'playwright-core';
import { afterEach, describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, useBrowser } from '../fixtures/browser.ts';
import { useFaultProxy } from '../fixtures/fault-proxy.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const proxy = useFaultProxy(() => service.baseUrl);
const { open } = useBrowser();
afterEach(() => {
  for (const prefix of ['/api/Fetch/', '/api/Stream/']) proxy.refuse(prefix);
});

const at = (path: string) => proxy.baseUrl + service.pageFor(path);
const titleOf = (id: string) => `Größe “${id}”: eins/zwei`;
/** The focused element: its name, class or tag. */
const focused = (page: Page) =>
  eventually(() =>
    page.evaluate(() => {
      const { ariaLabel, className, tagName } = document.activeElement ?? {};
      return ariaLabel || className || tagName?.toLowerCase();
    }),
  );
const press = async (page: Page, name: string | RegExp) => {
  await page.getByRole('button', { name }).first().focus();
  await page.keyboard.press('Enter');
};

describe('focus', () => {
  it('stays on the button of a download', async () => {
    const { page } = await open(at('/site/combined/handed-over'));
    await page.getByRole('article').waitFor();
    proxy.refuse('/api/Stream/', { status: 502, title: 'Fetch Failed' });
    await press(page, /^Download ./);
    await page.getByRole('status').getByText('The site didn’t respond properly').waitFor();
    expect(await page.locator(':focus').innerText()).toMatch(/^Failed\. Try again/);
    proxy.refuse('/api/Stream/');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: /^Download .* again/ }).waitFor();
    expect(await page.locator(':focus').innerText()).toMatch(/^Download .* again/);
  });

  it('moves to the result after a retry', async () => {
    proxy.refuse('/api/Fetch/', { status: 502, title: 'Fetch Failed' });
    const { page } = await open(at('/site/combined/retried'));
    await page.getByRole('heading', { name: 'The site didn’t respond properly' }).waitFor();
    proxy.refuse('/api/Fetch/');
    await press(page, 'Try again');
    await page.getByRole('article').waitFor();
    await focused(page).toBe('result');
    await page.keyboard.press('Tab');
    await focused(page).toMatch(/^Play Größe/);
  });

  it('moves to the page when waiting is stopped', async () => {
    proxy.refuse('/api/Fetch/', { status: 429, title: 'Too Many Requests', retryAfter: 30 });
    const { page } = await open(at('/site/combined/stopped'));
    await press(page, 'Cancel');
    await focused(page).toBe('wrap');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('url');
  });

  it('stays in the history while entries are removed', async () => {
    const { page } = await open('about:blank');
    for (const id of ['one', 'two', 'three']) {
      await page.goto(at(`/site/combined/${id}`));
      await page.getByRole('article', { name: titleOf(id) }).waitFor();
    }
    await page.goto(`${proxy.baseUrl}/`);
    await press(page, /^Remove .*three/);
    await focused(page).toBe('history-entry');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe(titleOf('two'));
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: titleOf('two') }).waitFor();
    await focused(page).toBe('result');
    await page.goto(`${proxy.baseUrl}/`);
    const questions: string[] = [];
    page.once('dialog', (question) => question.dismiss());
    await press(page, 'Clear history');
    await page.getByRole('link', { name: titleOf('two') }).waitFor();
    page.once('dialog', (question) => {
      questions.push(question.message());
      return question.accept();
    });
    await press(page, 'Clear history');
    await page.getByRole('heading', { name: /^Recent/ }).waitFor({ state: 'detached' });
    expect(questions).toEqual(['Clear the history on this device?']);
    await focused(page).toBe('wrap');
  });
});
