import type { Download, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { itWith } from '../../support/clients.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { startNginx } from '../../support/nginx.ts';
import { eventually, sentenceOf, useBrowser } from '../fixtures/browser.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

const at = (address: string) => service.baseUrl + address;
const titleOf = (id: string) => `Größe “${id}”: eins/zwei`;
const article = (page: Page, id: string) => page.getByRole('article', { name: titleOf(id) });
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

describe('a link arrives', () => {
  it("from the page's address, with working history navigation", async () => {
    const { page } = await open(at(service.pageFor('/site/combined/first')));
    await article(page, 'first').waitFor();
    await page.getByRole('textbox').fill(service.origin.url('/site/combined/second'));
    await page.keyboard.press('Enter');
    await article(page, 'second').waitFor();
    expect(await page.title()).toBe(`${titleOf('second')} – Reelay`);
    await page.goBack();
    await article(page, 'first').waitFor();
    await page.getByRole('link', { name: 'Reelay, start page' }).click();
    await eventually(() => page.getByRole('article').count()).toBe(0);
    expect(await page.getByRole('textbox').inputValue()).toBe('');
    expect(new URL(page.url()).search).toBe('');
  });

  itWith('nginx')('below a path', async () => {
    const server = `location /reelay/ { proxy_pass ${service.baseUrl}/; proxy_set_header Host $http_host; }`;
    const { host } = closeAfterwards(await startNginx(async () => ({ server })));
    const { page } = await open(`http://${host}/reelay${service.pageFor('/site/combined/first')}`);
    await article(page, 'first').waitFor();
    const hrefs = await page
      .locator('a[download]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    for (const href of hrefs) expect(href).toContain('/reelay/api/Stream/');
    await page.getByRole('link', { name: 'Reelay, start page' }).click();
    await eventually(() => page.getByRole('article').count()).toBe(0);
    expect(new URL(page.url()).pathname).toBe('/reelay/');
  });

  it('from the share target of the manifest', async () => {
    const { share_target } = await (await fetch(at('/manifest.webmanifest'))).json();
    const action = new URL(share_target.action, at('/manifest.webmanifest')).pathname;
    const link = service.origin.url('/site/combined/shared');
    const { url, text, title } = share_target.params;
    const query = new URLSearchParams({ [title]: 'A film', [text]: `See ${link}!`, [url]: '' });
    const { page } = await open(`${at(action)}?${query}`);
    await article(page, 'shared').waitFor();
  });

  it.each([
    ['/?url=garbage', 'garbage'],
    ['/?title=A%20film&text=hello', 'hello'],
    ['/?url=ftp://x/y', 'ftp://x/y'],
  ])('as unusable text, kept for editing: %s', async (address, text) => {
    const { page, resolves } = await open(at(address));
    await page.getByRole('alert').filter({ hasText: 'That’s not a link.' }).waitFor();
    const field = page.getByRole('textbox');
    expect([await field.inputValue(), await field.getAttribute('aria-invalid')]).toEqual([text, 'true']);
    expect(resolves()).toBe(0);
    await field.fill(service.origin.url('/site/combined/mended'));
    await page.keyboard.press('Enter');
    await article(page, 'mended').waitFor();
    await page.goBack();
    await eventually(() => field.inputValue()).toBe(text);
    await page.getByRole('alert').filter({ hasText: 'That’s not a link.' }).waitFor();
  });

  it('from the clipboard, by a button', async () => {
    const { page } = await open(at('/'), { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.evaluate(() => navigator.clipboard.writeText('no link'));
    await button(page, 'Paste').click();
    await page.getByRole('alert').filter({ hasText: 'That’s not a link.' }).waitFor();
    expect(await button(page, 'Paste').count()).toBe(0);
    await button(page, 'Clear').click();
    await page.evaluate((link) => navigator.clipboard.writeText(link), service.origin.url('/site/combined/copied'));
    await button(page, 'Paste').click();
    await article(page, 'copied').waitFor();
  });

  it('by drag and drop', async () => {
    const { page } = await open(at('/'));
    const link = service.origin.url('/site/combined/dropped');
    const dataTransfer = await page.evaluateHandle((uri) => {
      const data = new DataTransfer();
      data.setData('text/uri-list', `# a comment\r\n${uri}\r\n`);
      return data;
    }, link);
    await page.dispatchEvent('footer', 'dragover', { dataTransfer });
    await page.locator('.dropping').waitFor();
    await page.dispatchEvent('footer', 'drop', { dataTransfer });
    await article(page, 'dropped').waitFor();
    expect(await page.locator('.dropping').count()).toBe(0);
  });

  it('by pasting anywhere', async () => {
    const { page } = await open(at('/'), { permissions: ['clipboard-read', 'clipboard-write'] });
    const link = service.origin.url('/site/combined/anywhere');
    await page.locator('input:focus').waitFor();
    await page.evaluate((text) => navigator.clipboard.writeText(text), link);
    await page.locator('main').focus();
    await page.keyboard.press('Control+V');
    await article(page, 'anywhere').waitFor();
  });

  it('with others, as a batch that is resolved one by one', async () => {
    const { page, resolves } = await open(at('/'), { permissions: ['clipboard-read', 'clipboard-write'] });
    const links = ['one', 'two', 'three'].map((id) => service.origin.url(`/site/combined/${id}`));
    await page.locator('input:focus').waitFor();
    await page.evaluate((text) => navigator.clipboard.writeText(text), links.join('\n'));
    await page.keyboard.press('Control+V');
    await page.getByRole('heading', { name: 'Pasted links' }).waitFor();
    for (const id of ['one', 'two', 'three']) await page.getByRole('heading', { name: titleOf(id) }).waitFor();
    expect(resolves()).toBe(3);
    expect(new URL(page.url()).searchParams.getAll('url')).toEqual(links);
    const files: Download[] = [];
    page.on('download', (file) => files.push(file));
    await button(page, 'Download 3').click();
    await eventually(() => files.length).toBe(3);
    await page.reload();
    await page.getByRole('heading', { name: titleOf('two') }).waitFor();
  });

  it('from the bookmarklet', async () => {
    const { page, context } = await open(at('/'));
    const href = await page.locator('.bookmarklet').getAttribute('href');
    await page.goto(service.origin.url('/site/combined/marked'));
    const opening = context.waitForEvent('page');
    await page.evaluate(decodeURIComponent((href ?? '').replace('javascript:', '')));
    await article(await opening, 'marked').waitFor();
  });

  it('from the local history, until that is cleared', async () => {
    const { page } = await open(at(service.pageFor('/site/combined/before')));
    await article(page, 'before').waitFor();
    await page.goto(at('/'));
    await page.getByRole('link', { name: titleOf('before') }).click();
    await article(page, 'before').waitFor();
    await page.goto(at('/'));
    page.on('dialog', (question) => question.accept());
    await button(page, 'Clear history').click();
    await page.reload();
    await page.getByRole('textbox').waitFor();
    expect(await page.getByRole('heading', { name: /^Recent/ }).count()).toBe(0);
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('before');
  });
});

describe('history', () => {
  it('follows the text direction of the language', async () => {
    const { page } = await open(at(service.pageFor('/site/combined/rtl')), { locale: 'ar' });
    await article(page, 'rtl').waitFor();
    await page.goto(at('/'));
    const [author, start, end] = await page.locator('.history-entry bdi').evaluate((name) => {
      const rest = document.createRange();
      rest.setStartAfter(name);
      rest.setEndAfter(name.parentElement?.lastChild ?? name);
      return [name.textContent, name.getBoundingClientRect().left, rest.getBoundingClientRect().right] as const;
    });
    expect(author).toBe('Ärtist Example');
    expect(start).toBeGreaterThanOrEqual(end - 1);
  });

  it('is cleared in every tab', async () => {
    const { page, context } = await open(at(service.pageFor('/site/combined/secret')));
    await article(page, 'secret').waitFor();
    await page.getByRole('link', { name: 'Reelay, start page' }).click();
    const other = await context.newPage();
    await other.goto(at('/'));
    other.on('dialog', (question) => question.accept());
    await button(other, 'Clear history').click();
    await page.getByRole('heading', { name: /^Recent/ }).waitFor({ state: 'detached' });
    await page.getByRole('textbox').fill(service.origin.url('/site/combined/next'));
    await page.keyboard.press('Enter');
    await article(page, 'next').waitFor();
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain('secret');
  });
});

describe('page', () => {
  it('focuses the link field with the key /', async () => {
    const { page } = await open(at(service.pageFor('/site/combined/slash')));
    await article(page, 'slash').waitFor();
    await page.keyboard.press('/');
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('url');
    expect(await page.getByRole('textbox').inputValue()).toBe(service.origin.url('/site/combined/slash'));
  });

  it('is usable by keyboard alone', async () => {
    const { page } = await open(at('/'));
    await page.locator('input:focus').waitFor();
    await page.keyboard.type(service.origin.url('/site/combined/keys'));
    await page.keyboard.press('Enter');
    await article(page, 'keys').waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.ariaLabel || document.activeElement?.textContent);
    const tabTo = async (name: RegExp) => {
      for (let step = 0; step < 15; step++) {
        await page.keyboard.press('Tab');
        if (name.test((await focused()) ?? '')) return;
      }
      expect.fail(`The key Tab does not lead to ${name}`);
    };
    await tabTo(/^Play Größe/);
    await page.keyboard.press('Enter');
    await page.locator('video:focus').waitFor();
    await page.keyboard.press('Escape');
    await eventually(focused).toMatch(/^Play Größe/);
    await tabTo(/^Quality$/);
    await page.keyboard.press('ArrowDown');
    await eventually(() => sentenceOf(page)).toMatch(/^Video in 360p/);
    const coming = page.waitForEvent('download');
    await tabTo(/^Download 360p/);
    await page.keyboard.press('Enter');
    await (await coming).path();
  });

  it("offers the bookmarklet's address to keyboard users", async () => {
    const { page } = await open(at('/'), { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.locator('input:focus').waitFor();
    await page.getByText('More ways to add links').click();
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Copy bookmark address');
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('Copied.').waitFor();
    const href = await page.locator('.bookmarklet').getAttribute('href');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(href);
  });

  it('uses the selected language and its direction', async () => {
    const { page } = await open(at('/'), { locale: 'de-AT' });
    const language = () => page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]);
    await eventually(language).toEqual(['de', 'ltr']);
    await page.locator('footer select').first().selectOption({ label: 'العربية' });
    await eventually(language).toEqual(['ar', 'rtl']);
    await page.reload();
    await eventually(language).toEqual(['ar', 'rtl']);
    expect(await page.getByRole('textbox').getAttribute('dir')).toBe('ltr');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/\p{Script=Arabic}/u);
  });

  it('uses the selected theme from its first paint on, and that of the device again', async () => {
    const { page } = await open(at('/'), { colorScheme: 'light' });
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const barColor = () =>
      page.locator('meta[name=theme-color]:is([media=all], [media$="light)"])').getAttribute('content');
    const light = await ground();
    const theme = page.getByRole('combobox', { name: 'Theme' });
    await theme.selectOption('Dark');
    expect(await ground()).toBe('rgb(18, 19, 18)');
    expect(await barColor()).toBe('#121312');
    await page.route('**/assets/shell-*.js', async (route) => {
      await theme.waitFor({ state: 'detached' });
      // Transparent until the style sheet is applied.
      await eventually(ground).not.toBe('rgba(0, 0, 0, 0)');
      expect(await ground()).toBe('rgb(18, 19, 18)');
      await route.continue();
    });
    await page.reload();
    await theme.selectOption('System');
    expect([await ground(), await barColor()]).toEqual([light, '#f4f4f2']);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await ground()).not.toBe(light);
  });

  it('shows a not-found page', async () => {
    const { page } = await open(at('/unknown'));
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.getByRole('link', { name: 'Back to Reelay' }).click();
    await page.getByRole('textbox').waitFor();
  });
});

describe('offline', () => {
  it('shows a notice, and resolves the link once the browser is online', async () => {
    const { page, context } = await open(at('/'));
    // Rendered by the script, so everything of the first load is there.
    await page.getByRole('combobox', { name: 'Theme' }).waitFor();
    await context.setOffline(true);
    await page.getByRole('textbox').fill(service.origin.url('/site/combined/offline'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You’re offline' }).waitFor();
    await context.setOffline(false);
    await button(page, 'Try again').click();
    await article(page, 'offline').waitFor();
  });
});
