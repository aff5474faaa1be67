import type { Route } from 'playwright-core';
import { describe, expect } from 'vitest';
import { LOCALES } from '../../../web/src/texts.ts';
import { useFakeInstance } from '../fakes/instance.ts';
import { eventually, it, type OpenOptions, titleOf, usePage, type Visitor } from '../fixtures/page.ts';
import { addressOf } from './page-states.ts';

const { open, see, link, service } = usePage();
const instance = useFakeInstance();

const select = (visitor: Visitor, title: string) => visitor.byRole('checkbox', `Select ${title}`);
const rows = ({ page }: Visitor) => page.locator('ol > li').filter({ visible: true });

/** A playlist of which only the first two entries were resolved in time. @param times how often; always by default */
async function seeList(name: string, count: number, times?: number, visitor?: Visitor) {
  const opened = visitor ?? (await open());
  const cutShort = async (route: Route) => {
    const answer = await route.fetch();
    const list = await answer.json();
    const mediaItems = list.mediaItems.map(({ video, audio, ...late }: Record<string, unknown>, index: number) =>
      index < 2 ? { ...late, video, audio } : late,
    );
    await route.fulfill({ response: answer, json: { ...list, mediaItems } });
  };
  await opened.page.route(new RegExp(`GetResource.*list%2F${name}`), cutShort, { times });
  await opened.enter(link(`/site/list/${name}?n=${count}`));
  await opened.heading(`List ${name}`);
  return opened;
}

describe('entries that were not resolved in time', () => {
  it('are resolved while the list is shown, with it', async () => {
    const visitor = await seeList('late', 4, 1);
    await visitor.button(`Show formats ${titleOf('late-4')}`).waitFor();
    expect(visitor.asked(/GetResource.*late-4$/)).toBe(0);
  });

  it('are shown as unavailable with the reason when their own resolve fails', async () => {
    const visitor = await open();
    const json = { type: '/problems/gone', title: 'Resource Not Found', status: 404 };
    await visitor.page.route(/GetResource.*lost-3$/, (route) => route.fulfill({ status: 404, json }));
    await seeList('lost', 4, undefined, visitor);
    await visitor.says('Not available: 1.');
    await visitor.says(/^3 entries$/);
    expect(await rows(visitor).nth(2).innerText()).toMatch(/^3\s+Entry 3\s+No longer available$/);
    await visitor.button(/^Download 3/).waitFor();
  });

  it('are named with their link and reason when the list says so', async () => {
    const path = '/site/list/named?n=3&dead=1&drm=2';
    await service.resolve(path);
    const visitor = await see(path);
    await visitor.says('Not available: 2.');
    await eventually(async () => (await rows(visitor).nth(0).innerText()).split(/\s*\n\s*/)).toEqual([
      '1',
      'Entry 1',
      'No longer available',
    ]);
    await eventually(() => rows(visitor).nth(1).innerText()).toMatch(/Entry 2\s+Protected content$/);
    expect(await visitor.byRole('link', 'Entry 1').getAttribute('href')).toBe(link('/site/gone/named-1'));
    expect(visitor.asked(/GetDetails.*list%2Fnamed/)).toBe(1);
    const heights = await rows(visitor).evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height));
    expect(Math.max(...heights.slice(0, 2))).toBeLessThan(40);
  });

  it('do not delay a list', async () => {
    const visitor = await see('/site/list/early?n=3&slow=2');
    await visitor.button(`Show formats ${titleOf('early-2')}`).waitFor();
    const asked = visitor.requests.filter((request) => request.url().includes('GetResource'));
    expect(asked.slice(0, 2).map((one) => one.headers().prefer)).toEqual(['wait=0', 'wait=2']);
  });

  it('say why they must wait, can be stopped and retried, and keep the focus on their button', async () => {
    const visitor = await open();
    const { page } = visitor;
    const entry = /GetResource.*slow-3$/;
    await page.route(entry, (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '120' }, json: { title: 'Busy', status: 429 } }),
    );
    await seeList('slow', 3, undefined, visitor);
    const row = rows(visitor).nth(2);
    await row.getByText('Too many requests').waitFor();
    await row.getByText(/^Retrying in ./).waitFor();
    await row.getByRole('button', { name: /^Cancel/ }).focus();
    await page.keyboard.press('Enter');
    await row.getByRole('button', { name: /^Load Entry/ }).waitFor();
    expect(await row.getByText(/^Retrying/).count()).toBe(0);
    await page.unroute(entry);
    await page.keyboard.press('Enter');
    await visitor.menu('Quality').waitFor();
    await visitor.focused().toBe(`Hide formats ${titleOf('slow-3')}`);
  });
});

describe('downloads of a playlist', () => {
  it('are a ZIP of all entries when all are selected, with the tags that were selected last', async () => {
    const visitor = await open();
    await visitor.page.evaluate(() => localStorage.setItem('reelay.format', '{"group":"audio","container":"MP3"}'));
    await visitor.page.reload();
    await seeList('whole', 2, undefined, visitor);
    await visitor.choose('Format', 'mp3');
    const download = await visitor.download(/^Download 2/);
    expect(download.suggestedFilename()).toBe('List Example - List whole.zip');
    const { searchParams } = new URL(download.url());
    expect(searchParams.get('jobId')).toMatch(/^[\d-]+$/);
    searchParams.delete('jobId');
    expect(String(searchParams)).toBe('quality=mp3&tags=true&format=zip');
  });

  it('list the entries that the ZIP lacks', async () => {
    const visitor = await see('/site/list/dead?n=3&broken=2');
    await visitor.download(/^Download (?:3|up to)/);
    await visitor.says('Missing from the ZIP: 1; index.txt says why.');
    await visitor.page.locator('.download-note').getByRole('listitem').getByText('Entry 2').waitFor();
  });

  it('are of a selection: a ZIP, or files for download managers, beside addresses for players and podcast clients', async () => {
    const visitor = await seeList('some', 4);
    await select(visitor, titleOf('some-2')).uncheck();
    await visitor.download(/^Download 3/);
    await visitor.press('More');
    const files = await visitor.download(visitor.byRole('link', 'Separate files'));
    expect(files.suggestedFilename()).toBe('List some.meta4');
    expect(visitor.asked(/\/api\/Get\?.*entries=1%2C3-4/)).toBe(1);
    expect(new URL(files.url()).searchParams.get('entries')).toBe('1,3-4');
    expect(await visitor.byRole('link', 'Playlist file (M3U8)').getAttribute('download')).toBe('List some.m3u8');
    await visitor.button('Copy podcast feed').waitFor();
  });

  it('are the file of a single entry, in the selected format, and need a selection', async () => {
    const visitor = await see('/site/list/single?n=3');
    await visitor.button(/^Download 3/).waitFor();
    expect((await visitor.download(`Download ${titleOf('single-2')}`)).suggestedFilename()).toMatch(/^2 - .*single-2/);
    const all = visitor.byRole('checkbox', 'Select all');
    await all.uncheck();
    expect(await visitor.page.locator('.primary').last().isDisabled()).toBe(true);
    await select(visitor, titleOf('single-1')).check();
    await visitor.choose('Format', 'mp3');
    expect((await visitor.download(/^Download 1/)).suggestedFilename()).toMatch(/single-1.*\.mp3$/);
    await visitor.press(`Play ${titleOf('single-1')}`);
    await visitor.playsFrom(0);
    await visitor.press(`Hide formats ${titleOf('single-1')}`);
    await eventually(() => visitor.menu('Quality').count()).toBe(0);
  });
});

describe('returning to a playlist', () => {
  it('restores selection, format and resolved entries without requests', async () => {
    const visitor = await seeList('back', 3);
    await select(visitor, titleOf('back-2')).uncheck();
    await visitor.choose('Format', 'mp3');
    await visitor.button(`Show formats ${titleOf('back-3')}`).waitFor();
    await visitor.enter(link('/site/combined/aside'));
    await visitor.item('aside');
    const before = visitor.resolves();
    await visitor.page.goBack();
    await visitor.heading('List back');
    expect(await select(visitor, titleOf('back-2')).isChecked()).toBe(false);
    expect(await visitor.menu('Format').inputValue()).toBe('mp3');
    await visitor.button(`Show formats ${titleOf('back-3')}`).waitFor();
    expect(visitor.resolves()).toBe(before);
  });

  it('restores the scroll position', async () => {
    const visitor = await seeList('scrolled', 40);
    const scrolled = () => visitor.page.evaluate(() => scrollY);
    const last = select(visitor, titleOf('scrolled-40'));
    await last.scrollIntoViewIfNeeded();
    expect(await scrolled()).toBeGreaterThan(1000);
    await visitor.page.evaluate(
      (address) => location.assign(`/?url=${encodeURIComponent(address)}`),
      link('/site/combined/far'),
    );
    await visitor.item('far');
    await eventually(scrolled).toBe(0);
    await visitor.page.goBack();
    await last.waitFor();
    await eventually(scrolled).toBeGreaterThan(1000);
  });
});

/** A list of the fake instance. */
async function seeFake(name: string, width = 1280, options: OpenOptions = {}) {
  const viewport = { width, height: 700 };
  const address = instance.baseUrl + addressOf(name);
  const visitor = await open(address, { viewport, reducedMotion: 'reduce', reusePage: true, ...options });
  await visitor.page.locator('ol > li').first().waitFor();
  return visitor;
}

describe('a list that is longer than the instance reads at once', () => {
  const paged = usePage({ settings: { playlistLimit: 3 } });

  it('goes on by pages, which resolve nothing before them, have numbers of the list and downloads of their own', async () => {
    const visitor = await paged.see('/site/list/pages?n=8&dead=5');
    await visitor.says('First 3 of 8');
    await visitor.button(`Show formats ${titleOf('pages-3')}`).waitFor();
    expect(paged.service.origin.requestsTo('/site-api/combined/pages-4')).toHaveLength(0);
    await visitor.byRole('link', 'Next 3').first().click();
    await visitor.says('4–6 of 8');
    await visitor.button(`Show formats ${titleOf('pages-6')}`).waitFor();
    await eventually(() => rows(visitor).nth(1).innerText()).toMatch(/^5\s+Entry 5\s+No longer available$/);
    const asked = paged.service.origin.requestsTo('/site-api/combined/pages-1').length;
    const { searchParams } = new URL((await visitor.download(`Download ${titleOf('pages-6')}`)).url());
    expect(searchParams.get('name')).toMatch(/^6 - /);
    await visitor.download(/^Download 2/);
    expect(visitor.asked(/\/api\/Get\?.*offset=3.*format=zip/)).toBe(1);
    await visitor.byRole('link', 'Next 2').first().click();
    await visitor.says('7–8 of 8');
    expect(await visitor.byRole('link', /^Next/).count()).toBe(0);
    expect(new URL(visitor.page.url()).searchParams.get('offset')).toBe('6');
    await visitor.page.goBack();
    await visitor.says('4–6 of 8');
    await visitor.page.reload();
    await visitor.says('4–6 of 8');
    await visitor.byRole('link', 'First entries').first().click();
    await visitor.says('First 3 of 8');
    expect(paged.service.origin.requestsTo('/site-api/combined/pages-1')).toHaveLength(asked);
  });
});

describe('a long playlist', () => {
  it('is resolved as it is scrolled', async () => {
    const visitor = await see('/site/list/lazy?n=60', { viewport: { width: 1280, height: 700 } });
    const resolved = () =>
      service.origin.requests.filter(({ path }) => path.startsWith('/site-api/combined/lazy-')).length;
    await visitor.button(`Show formats ${titleOf('lazy-2')}`).waitFor();
    await select(visitor, 'Entry 60').scrollIntoViewIfNeeded();
    await visitor.button(`Show formats ${titleOf('lazy-60')}`).waitFor();
    await visitor.page.waitForLoadState('networkidle');
    expect(resolved()).toBeLessThan(40);
    expect(service.origin.requestsTo('/site-api/combined/lazy-30')).toHaveLength(0);
    await visitor.press(/^Load Entry 30$/);
    await visitor.button(`Hide formats ${titleOf('lazy-30')}`).waitFor();
  });

  it('shows counts of unlisted entries, and the positions of unavailable ones', async () => {
    const visitor = await seeFake('feed');
    await visitor.says('First 200 of 500');
    await visitor.says('Not available: 3.');
    await eventually(() => rows(visitor).count()).toBe(200);
    await eventually(() => rows(visitor).nth(1).innerText()).toMatch(/2\s+The lost episode\s+Private content/);
    expect(await rows(visitor).nth(16).innerText()).toMatch(/^17\s+Not available$/);
    // The place at the source, in the file name too.
    expect(await rows(visitor).nth(2).innerText()).toMatch(/^3\s+Episode 2\b/);
    const { searchParams } = new URL((await visitor.download('Download Episode 2')).url());
    expect(searchParams.get('name')).toMatch(/^003 - Quiet Journeys - Episode 2 /);
  });

  it('is filtered by hiding its rows, none of which is rendered again or numbered as a list item', async () => {
    const visitor = await open('about:blank');
    const { page } = visitor;
    // Each row formats a duration and a size.
    await page.addInitScript(() => {
      const { get } = Object.getOwnPropertyDescriptor(Intl.NumberFormat.prototype, 'format') ?? {};
      Object.assign(globalThis, { formatted: 0 });
      Object.defineProperty(Intl.NumberFormat.prototype, 'format', {
        get() {
          (globalThis as unknown as { formatted: number }).formatted++;
          return get?.call(this);
        },
      });
    });
    await page.goto(instance.baseUrl + addressOf('feed'));
    await eventually(() => rows(visitor).count()).toBe(200);
    const formatted = () => page.evaluate(() => (globalThis as unknown as { formatted: number }).formatted);
    const before = await formatted();
    expect(before).toBeGreaterThan(400);
    await page.evaluate(() => {
      const changes: string[] = [];
      const list = document.querySelector('ol') ?? document;
      new MutationObserver((found) =>
        changes.push(...found.map(({ attributeName, type }) => attributeName ?? type)),
      ).observe(list, { subtree: true, childList: true, characterData: true, attributes: true });
      Object.assign(globalThis, { changes });
    });
    const filter = visitor.byRole('searchbox', 'Filter');
    for (const [text, count] of [
      ['ada 19', 6],
      ['', 200],
    ] as const) {
      await filter.fill(text);
      await eventually(() => rows(visitor).count()).toBe(count);
    }
    const changes = await page.evaluate(() => (globalThis as unknown as { changes: string[] }).changes);
    expect([new Set(changes), changes.length]).toEqual([new Set(['hidden']), 2 * 194]);
    // Those of the head and the toolbar.
    expect((await formatted()) - before).toBeLessThan(30);
    expect(
      await rows(visitor).evaluateAll((all) => all.filter((row) => getComputedStyle(row).display === 'list-item')),
    ).toEqual([]);
  });

  it('closes an open entry that the filter hides', async () => {
    const visitor = await seeFake('feed');
    await visitor.press(/^Show formats Episode 1$/);
    await visitor.menu('Quality').waitFor();
    const filter = visitor.byRole('searchbox', 'Filter');
    for (const text of ['episode 19', '']) await filter.fill(text);
    await visitor.button('Show formats Episode 1').waitFor();
    expect(await visitor.menu('Quality').count()).toBe(0);
  });

  it('keeps its rows when it is filtered; selecting all affects what is shown', async () => {
    const visitor = await seeFake('feed');
    const filter = visitor.byRole('searchbox', 'Filter');
    const all = visitor.byRole('checkbox', 'Select all');
    await all.uncheck();
    await filter.fill('ada 19');
    await eventually(() => rows(visitor).count()).toBe(6);
    await all.check();
    await filter.fill('no such episode');
    await visitor.says('No entries match.');
    const last = await visitor.page.locator('ol > li').last().elementHandle();
    await filter.fill('');
    await eventually(() => rows(visitor).count()).toBe(200);
    expect(await last?.evaluate((row) => row.isConnected)).toBe(true);
    await visitor.button(/^Download up to 6 ·/).waitFor();
  });
});

describe('the tools of a playlist', () => {
  const bottomOf = ({ page }: Visitor) =>
    page.locator('.toolbar').evaluate((bar) => bar.getBoundingClientRect().bottom);

  it.each(LOCALES)('do not cover the player in %s', async (locale) => {
    const visitor = await seeFake('list', 920, { locale });
    const entry = rows(visitor).first();
    await entry.getByRole('button').last().click();
    // Higher than the player, which could not stay in view otherwise.
    await entry.locator('.download-panel summary').click();
    const panel = entry.locator('.download-panel');
    // Scrolls until both are sticky.
    await panel.evaluate((element) => scrollBy(0, element.getBoundingClientRect().top + 60));
    const top = await entry.locator('.media-stage').evaluate((stage) => stage.getBoundingClientRect().top);
    expect(top).toBeGreaterThanOrEqual(await bottomOf(visitor));
  });

  it('do not cover the focused element', async () => {
    const visitor = await seeFake('list');
    await visitor.press(/^Show formats ?Part One/);
    await visitor.page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await visitor.button(/^Try again ?Part five/).focus();
    const bottom = await bottomOf(visitor);
    for (let step = 0; step < 12; step++) {
      await visitor.page.keyboard.press('Shift+Tab');
      const [isTool, top] = await visitor.page
        .locator(':focus')
        .evaluate((focused) => [focused.closest('.toolbar') !== null, focused.getBoundingClientRect().top]);
      if (isTool) break;
      expect(top, `step ${step}`).toBeGreaterThanOrEqual(bottom);
    }
  });

  it.each([320, 390])('are one row, above rows of at most 88 px, with targets of 44 px, at %i px', async (width) => {
    const visitor = await seeFake('list', width);
    for (const text of ['10:08', '≈ 301 MB', 'Nothing found']) await visitor.says(text);
    const boxes = (selector: string) =>
      visitor.page.locator(selector).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().toJSON()));
    const tools = await boxes('.toolbar > :not(.toolbar-end):visible, .toolbar-end > *');
    expect(tools).toHaveLength(3);
    expect(new Set(tools.map(({ y, height }) => Math.round(y + height / 2))).size).toBe(1);
    await visitor.press('More');
    const heights = (await boxes('ol > li')).map(({ height }) => height);
    expect(heights).toHaveLength(5);
    expect(Math.max(...heights)).toBeLessThanOrEqual(88);
    const controls = '.toolbar > label, .toolbar button, .toolbar-more :is(select, .button), ol label, ol button';
    const targets = (await boxes(controls)).filter((box) => box.width > 0);
    expect(targets.length).toBeGreaterThan(12);
    for (const target of targets) expect(Math.min(target.width, target.height)).toBeGreaterThanOrEqual(44);
  });
});

describe('a short playlist', () => {
  it.each([320, 390])('downloads an entry by one tap, and opens it by one on its text, at %i px', async (width) => {
    const visitor = await seeFake('list', width);
    await visitor.press('Download Part One: The Harbour');
    await visitor.says('Download started');
    const { x = 0, y = 0 } = (await visitor.page.getByRole('heading', { name: /^Part Two/ }).boundingBox()) ?? {};
    await visitor.page.mouse.click(x + 4, y + 4);
    await visitor.menu('Quality').waitFor();
    await visitor.button(/^Hide formats Part Two/).waitFor();
  });

  it.each(['the keyboard', 'the pointer'])('is selected by %s, and with Shift up to the entry before', async (by) => {
    const visitor = await seeFake('list');
    const states = () =>
      visitor.page.locator('ol input').evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked));
    await visitor.byRole('checkbox', 'Select all').uncheck();
    const [two, four] = [/^Select Part Two/, /^Select Part Four/].map((name) => visitor.byRole('checkbox', name));
    const pick = async (box: typeof two, modifiers: ['Shift'] | []) => {
      if (by === 'the pointer') return box?.click({ modifiers });
      await box?.focus();
      await visitor.page.keyboard.press([...modifiers, 'Space'].join('+'));
    };
    await pick(two, []);
    expect(await states()).toEqual([false, true, false, false, false]);
    await pick(four, ['Shift']);
    expect(await states()).toEqual([false, true, true, true, false]);
  });
});
