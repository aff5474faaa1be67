import { readFile } from 'node:fs/promises';
import type { Page, Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, menuOf, useBrowser } from '../fixtures/browser.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const titleOf = (id: string) => `Größe “${id}”: eins/zwei`;

/** A playlist of which only the first two entries were resolved in time. @param times how often; @default always */
async function seeList(name: string, count: number, times?: number) {
  const visitor = await open(`${service.baseUrl}/`);
  const { page } = visitor;
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

/** File names of the downloads that the page has started. */
function downloadsOf(page: Page): readonly string[] {
  const names: string[] = [];
  page.on('download', (file) => names.push(file.suggestedFilename()));
  return names;
}

describe('entries that were not resolved in time', () => {
  it('load by themselves while the list is shown', async () => {
    const { page, requests } = await seeList('late', 4, 1);
    await button(page, `Show formats ${titleOf('late-4')}`).waitFor();
    expect(await page.getByText(/Not loaded yet/).count()).toBe(0);
    // With the list, not by requests of their own.
    expect(requests.filter((request) => /GetResource.*late-4$/.test(request.url()))).toEqual([]);
  });
});

describe('a list with slow entries', () => {
  it('is shown before they are resolved', async () => {
    const { page, requests } = await open(`${service.baseUrl}/`);
    await page.getByRole('textbox').fill(service.origin.url('/site/list/early?n=3&slow=2'));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'List early' }).waitFor();
    await button(page, `Show formats ${titleOf('early-2')}`).waitFor();
    const waits = requests
      .filter((request) => request.url().includes('GetResource'))
      .map((one) => one.headers().prefer);
    expect(waits.slice(0, 2)).toEqual(['wait=3', 'wait=6']);
  });
});

describe('an entry that must wait', () => {
  it('shows the reason and countdown, and can be stopped and retried', async () => {
    const { page } = await seeList('slow', 3);
    const letIn = await refuse(page, 'slow-3');
    const act = button(page, new RegExp(`^(Load|Cancel|.* formats) ${titleOf('slow-3')}$`));
    await act.click();
    const entry = page.getByRole('listitem').filter({ has: act });
    await entry.getByText('Too many requests').waitFor();
    await entry.getByText(/^Retrying in ./).waitFor();
    await button(page, `Cancel ${titleOf('slow-3')}`).click();
    await page.getByRole('button', { name: `Load ${titleOf('slow-3')}`, exact: true }).waitFor();
    expect(await entry.getByText(/^Retrying/).count()).toBe(0);
    await letIn();
    await page.getByRole('button', { name: `Load ${titleOf('slow-3')}`, exact: true }).click();
    await menuOf(page, 'Quality').waitFor();
  });

  it('keeps the focus on its button', async () => {
    const { page } = await seeList('focus', 3);
    await page.getByRole('button', { name: `Load ${titleOf('focus-3')}`, exact: true }).focus();
    await page.keyboard.press('Enter');
    await menuOf(page, 'Quality').waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe(`Hide formats${titleOf('focus-3')}`);
  });
});

describe('downloads of a playlist', () => {
  it('are the ZIP of all of it, where all is selected', async () => {
    const { page } = await seeList('whole', 2);
    await page.getByRole('combobox', { name: 'Format' }).selectOption('mp3');
    const started = page.waitForEvent('download');
    await button(page, 'Download all (2)').click();
    const download = await started;
    expect(download.suggestedFilename()).toBe('List Example - List whole.zip');
    expect(new URL(download.url()).search).toContain('quality=mp3');
    const content = await readFile(await download.path());
    for (const name of ['/01 - ', '/02 - ', '/index.txt']) expect(content.includes(name)).toBe(true);
  });

  it('are the files of a selection, past an entry without media', async () => {
    const { page } = await seeList('nothing', 4);
    await page.route(/GetResource.*nothing-3$/, (route) =>
      route.fulfill({ status: 404, json: { type: '/problems/not-found', title: 'Resource Not Found', status: 404 } }),
    );
    const names = downloadsOf(page);
    await page.getByRole('checkbox', { name: 'Select all' }).check();
    await page.getByRole('checkbox', { name: `Select ${titleOf('nothing-1')}` }).uncheck();
    await button(page, 'Download 3').click();
    await eventually(() => [...names].sort()).toEqual([
      expect.stringMatching(/^2 - .*nothing-2/),
      expect.stringMatching(/^4 - .*nothing-4/),
    ]);
    await page.getByRole('alert').getByText('Nothing found').waitFor();
  });
});

describe('returning to a playlist', () => {
  it('restores selection, format and resolved entries without requests', async () => {
    const { page, resolves } = await seeList('back', 3);
    await page.getByRole('checkbox', { name: `Select ${titleOf('back-2')}` }).uncheck();
    await page.getByRole('combobox', { name: 'Format' }).selectOption('mp3');
    await page.getByRole('button', { name: `Load ${titleOf('back-3')}`, exact: true }).click();
    await button(page, `Hide formats ${titleOf('back-3')}`).waitFor();
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
});

describe('a whole playlist', () => {
  it('has addresses for podcast clients and players', async () => {
    const { page } = await seeList('feed', 2);
    const link = page.getByRole('link', { name: 'Playlist file (M3U8)' });
    const playlist = await page.request.get((await link.getAttribute('href')) ?? '');
    expect(await playlist.text()).toMatch(/^#EXTM3U\n/);
    await button(page, 'Copy podcast feed').waitFor();
  });
});
