import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { downloadFrom, eventually, menuOf, type OpenedPage, useBrowser } from '../fixtures/browser.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const titleOf = (id: string) => `Größe “${id}”: eins/zwei`;

interface SeeOptions {
  /** How often only the first two entries were resolved in time. @default always */
  readonly times?: number;
  /** @default a new one */
  readonly visitor?: OpenedPage;
}

/** A playlist of which only the first two entries were resolved in time. */
async function seeList(name: string, count: number, options: SeeOptions = {}): Promise<OpenedPage> {
  const { times, visitor = await open('about:blank') } = options;
  const { page } = visitor;
  await page.goto(`${service.baseUrl}/`);
  const cutShort = async (route: Route) => {
    const answer = await route.fetch();
    const list = await answer.json();
    const mediaItems = list.mediaItems.map(({ video, audio, ...late }: Record<string, unknown>, index: number) =>
      index < 2 ? { ...late, video, audio } : late,
    );
    await route.fulfill({ response: answer, json: { ...list, mediaItems } });
  };
  await page.route(new RegExp(`GetResource.*list%2F${name}`), cutShort, { times });
  await page.getByRole('textbox').fill(service.origin.url(`/site/list/${name}?n=${count}`));
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: `List ${name}` }).waitFor();
  return visitor;
}

/** Responds to an entry with 429 and two minutes of Retry-After. @returns a function that stops it */
async function refuse(page: Page, id: string) {
  const entry = new RegExp(`GetResource.*${id}$`);
  const answer = (route: Route) =>
    route.fulfill({
      status: 429,
      headers: { 'retry-after': '120' },
      json: { title: 'Too Many Requests', status: 429 },
    });
  await page.route(entry, answer);
  return () => page.unroute(entry, answer);
}

describe('entries that were not resolved in time', () => {
  it('are resolved one by one while the list is shown', async () => {
    const { page, requests } = await seeList('late', 4, { times: 1 });
    await button(page, `Show formats ${titleOf('late-4')}`).waitFor();
    expect(await page.getByText(/Not loaded yet/).count()).toBe(0);
    // With the list, not by requests of their own.
    expect(requests.filter((request) => /GetResource.*late-4$/.test(request.url()))).toEqual([]);
  });

  it('are shown as unavailable with the reason when their own resolve fails', async () => {
    const visitor = await open('about:blank');
    const { page } = visitor;
    await page.route(/GetResource.*lost-3$/, (route) =>
      route.fulfill({ status: 404, json: { type: '/problems/gone', title: 'Resource Not Found', status: 404 } }),
    );
    await seeList('lost', 4, { visitor });
    await page.getByText('Not available: 1.').waitFor();
    await page.getByText('3 entries', { exact: true }).waitFor();
    expect(await page.locator('ol > li').nth(2).innerText()).toMatch(/^3\s+No longer available$/);
    await button(page, `Show formats ${titleOf('lost-4')}`).waitFor();
    await button(page, 'Download 3').waitFor();
  });
});

describe('a list with slow entries', () => {
  it('is shown before they are resolved', async () => {
    const { page, requests } = await open(`${service.baseUrl}/`);
    await page.getByRole('textbox').fill(service.origin.url('/site/list/early?n=3&slow=2'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'List early' }).waitFor();
    await button(page, `Show formats ${titleOf('early-2')}`).waitFor();
    // The list has no cover of its own.
    await page.locator('.playlist-head img').waitFor();
    const waits = requests
      .filter((request) => request.url().includes('GetResource'))
      .map((one) => one.headers().prefer);
    expect(waits.slice(0, 2)).toEqual(['wait=0', 'wait=2']);
  });
});

describe('an entry that must wait', () => {
  it('says why, can be stopped and retried, and keeps the focus on its button', async () => {
    const visitor = await open('about:blank');
    const { page } = visitor;
    const letIn = await refuse(page, 'slow-3');
    await seeList('slow', 3, { visitor });
    const act = button(page, /^(Load|Cancel) Entry 3$/);
    const entry = page.getByRole('listitem').filter({ has: act });
    await entry.getByText('Too many requests').waitFor();
    await entry.getByText(/^Retrying in ./).waitFor();
    await button(page, 'Cancel Entry 3').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Load Entry 3', exact: true }).waitFor();
    expect(await entry.getByText(/^Retrying/).count()).toBe(0);
    await letIn();
    await page.keyboard.press('Enter');
    await menuOf(page, 'Quality').waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(`Hide formats${titleOf('slow-3')}`);
  });
});

describe('downloads of a playlist', () => {
  it('are a ZIP of all entries when all are selected, with the tags that were selected last', async () => {
    const visitor = await open('about:blank');
    const { page } = visitor;
    await page.addInitScript(() => localStorage.setItem('reelay.format', '{"group":"audio","container":"MP3"}'));
    await seeList('whole', 2, { visitor });
    await page.getByRole('combobox', { name: 'Format' }).selectOption('mp3');
    const download = await downloadFrom(button(page, /^Download 2/));
    expect(download.suggestedFilename()).toBe('List Example - List whole.zip');
    const { searchParams } = new URL(download.url());
    expect(searchParams.get('jobId')).toMatch(/^[\d-]+$/);
    searchParams.delete('jobId');
    expect(String(searchParams)).toBe('quality=mp3&tags=true&format=zip');
    const content = await readFile(await download.path());
    for (const name of ['/01 - ', '/02 - ', '/index.txt']) expect(content.includes(name)).toBe(true);
  });

  it('list the entries that the ZIP lacks', async () => {
    const { page } = await open('about:blank');
    await page.goto(
      `${service.baseUrl}/?url=${encodeURIComponent(service.origin.url('/site/list/dead?n=3&broken=2'))}`,
    );
    const download = await downloadFrom(button(page, /^Download (?:3|up to)/));
    expect((await readFile(await download.path())).includes('/02 - ')).toBe(false);
    await page.getByText('Not in the ZIP: 1. Its index.txt says why.').waitFor();
    await page.locator('.download-note').getByRole('listitem').getByText('Entry 2').waitFor();
  });

  it('are a ZIP of a selection, whose entries keep their numbers', async () => {
    const { page } = await seeList('some', 4);
    await page.getByRole('checkbox', { name: `Select ${titleOf('some-2')}` }).uncheck();
    const content = await readFile(await (await downloadFrom(button(page, /^Download 3/))).path());
    expect(['/01 - ', '/02 - ', '/03 - ', '/04 - '].map((name) => content.includes(name))).toEqual([
      ...[true, false, true, true],
    ]);
  });
});

describe('returning to a playlist', () => {
  it('restores selection, format and resolved entries without requests', async () => {
    const { page, resolves } = await seeList('back', 3);
    await page.getByRole('checkbox', { name: `Select ${titleOf('back-2')}` }).uncheck();
    await page.getByRole('combobox', { name: 'Format' }).selectOption('mp3');
    await button(page, `Show formats ${titleOf('back-3')}`).waitFor();
    await page.getByRole('textbox').fill(service.origin.url('/site/combined/aside'));
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: titleOf('aside') }).waitFor();
    const before = resolves();
    await page.goBack();
    await page.getByRole('heading', { name: 'List back' }).waitFor();
    expect(await page.getByRole('checkbox', { name: `Select ${titleOf('back-2')}` }).isChecked()).toBe(false);
    expect(await page.getByRole('combobox', { name: 'Format' }).inputValue()).toBe('mp3');
    await button(page, `Show formats ${titleOf('back-3')}`).waitFor();
    expect(resolves()).toBe(before);
  });

  it('restores the scroll position', async () => {
    const { page } = await seeList('scrolled', 40);
    const last = page.getByRole('checkbox', { name: `Select ${titleOf('scrolled-40')}`, exact: true });
    await last.scrollIntoViewIfNeeded();
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(1000);
    await page.evaluate(
      (link) => location.assign(`/?url=${encodeURIComponent(link)}`),
      service.origin.url('/site/combined/far'),
    );
    await page.getByRole('article', { name: titleOf('far') }).waitFor();
    await eventually(() => page.evaluate(() => scrollY)).toBe(0);
    await page.goBack();
    await last.waitFor();
    await eventually(() => page.evaluate(() => scrollY)).toBeGreaterThan(1000);
  });
});

describe('a whole playlist', () => {
  it('has addresses for podcast clients and players', async () => {
    const { page } = await seeList('feed', 2);
    await button(page, 'More').click();
    const link = page.getByRole('link', { name: 'Playlist file (M3U8)' });
    expect(await link.getAttribute('download')).toBe('List feed.m3u8');
    const playlist = await page.request.get((await link.getAttribute('href')) ?? '');
    expect(await playlist.text()).toMatch(/^#EXTM3U\n/);
    await button(page, 'Copy podcast feed').waitFor();
  });

  it('has its selected files for download managers', async () => {
    const { page } = await seeList('separate', 3);
    await page.getByRole('checkbox', { name: `Select ${titleOf('separate-1')}` }).uncheck();
    await button(page, 'More').click();
    const file = await downloadFrom(page.getByRole('link', { name: 'Separate files' }));
    expect(file.suggestedFilename()).toBe('List separate.meta4');
    const names = (await readFile(await file.path(), 'utf8')).match(/ name="[^"]*"/g);
    expect(names).toEqual([expect.stringContaining('/02 - '), expect.stringContaining('/03 - ')]);
  });
});
