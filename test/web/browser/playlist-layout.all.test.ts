import type { Locator, Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { LOCALES } from '../../../web/src/texts.ts';
import { itInChromium as it } from '../../support/chromium.ts';
import { useFakeInstance } from '../fakes/instance.ts';
import { downloadFrom, useBrowser } from '../fixtures/browser.ts';
import { measureShift, shiftOf } from './layout-problems.ts';

const { open } = useBrowser();
const instance = useFakeInstance();

async function see(name: string, width: number, locale = 'en'): Promise<Page> {
  const address = `${instance.baseUrl}/?url=https://video.example/watch/${name}`;
  const { page } = await open(address, {
    viewport: { width, height: 700 },
    locale,
    reducedMotion: 'reduce',
    reusePage: true,
  });
  await page.locator('.entry').first().waitFor();
  return page;
}
const box = async (place: Locator) => (await place.boundingBox()) ?? expect.fail('It is not to be seen');
const bottomOf = async (place: Locator) => {
  const { y, height } = await box(place);
  return y + height;
};

describe('sticky playlist toolbar', () => {
  it.each(LOCALES)('does not cover the player in %s', async (locale) => {
    const page = await see('list', 920, locale);
    await page.locator('.entry-actions [aria-expanded]').first().click();
    const stage = page.locator('.entry .media-stage').first();
    await stage.waitFor();
    // Higher than the player, which could not stay in view otherwise.
    await page.locator('.entry .download-panel summary').click();
    await page.locator('.entry .download-panel .choices').first().waitFor();
    // Scrolls until both are sticky.
    await page.evaluate(() => {
      const panel = document.querySelector('.entry .panel.download-panel');
      scrollBy(0, (panel?.getBoundingClientRect().top ?? 0) + 60);
    });
    const bar = page.locator('.toolbar');
    expect((await box(bar)).y).toBeCloseTo(0, 0);
    expect((await box(stage)).y).toBeGreaterThanOrEqual(await bottomOf(bar));
  });

  it('does not cover the focused element', async () => {
    const page = await see('list', 1280);
    await page.getByRole('button', { name: /^Show formats Part One/ }).click();
    await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
    await page.getByRole('button', { name: /^Try again Part five/ }).focus();
    const bar = await bottomOf(page.locator('.toolbar'));
    for (let step = 0; step < 12; step++) {
      await page.keyboard.press('Shift+Tab');
      const focused = page.locator(':focus');
      if (await focused.evaluate((element) => element.closest('.toolbar'))) break;
      expect((await box(focused)).y, await focused.innerText()).toBeGreaterThanOrEqual(bar);
    }
  });
});

describe('a long playlist', () => {
  it('shows counts of unlisted entries, and the positions of unavailable ones', async () => {
    const page = await see('feed', 1280);
    const head = page.locator('.playlist-head');
    await head.getByText('197 of 500 entries').waitFor();
    await head.getByText(/Not available: 3\..*lists up to 200 entries/).waitFor();
    const rows = page.locator('ol > li');
    await expect.poll(() => rows.count()).toBe(200);
    expect(await rows.nth(1).innerText()).toMatch(/2\s+Removed or private/);
    // The place at the source, in the file name too.
    expect(await rows.nth(2).innerText()).toMatch(/^3\s+Episode 2\b/);
    expect(
      new URL(
        (await downloadFrom(page.getByRole('button', { name: 'Download Episode 2', exact: true }))).url(),
      ).searchParams.get('name'),
    ).toMatch(/^003 - Quiet Journeys - Episode 2 /);
  });

  it('is filtered; selecting all affects what is shown', async () => {
    const page = await see('feed', 1280);
    const all = page.getByRole('checkbox', { name: 'Select all' });
    await all.uncheck();
    await page.getByRole('searchbox', { name: 'Filter' }).fill('ada 19');
    const rows = page.locator('ol > li').filter({ visible: true });
    await expect.poll(() => rows.count()).toBe(6);
    await all.check();
    await page.getByRole('searchbox', { name: 'Filter' }).fill('no such episode');
    await page.getByText('No entries match.').waitFor();
    // Nothing is made again.
    const added = await page.evaluateHandle(() => {
      const nodes: Node[] = [];
      const list = document.querySelector('ol') as HTMLElement;
      new MutationObserver((changes) => {
        nodes.push(...changes.flatMap(({ addedNodes }) => [...addedNodes]));
      }).observe(list, { childList: true, subtree: true });
      return nodes;
    });
    await page.getByRole('searchbox', { name: 'Filter' }).fill('');
    await expect.poll(() => rows.count()).toBe(200);
    expect(await added.evaluate((nodes) => nodes.length)).toBe(0);
    await page.getByRole('button', { name: /^Download up to 6 ·/ }).waitFor();
  });
});

describe('a short playlist', () => {
  it.each([390, 1280])('appears and fills without a layout shift at %i px', async (width) => {
    const { page } = await open('about:blank', { viewport: { width, height: 800 } });
    await measureShift(page);
    await page.goto(`${instance.baseUrl}/?url=https://video.example/watch/list`);
    await page.getByText('Nothing found').waitFor();
    expect(await shiftOf(page)).toBeLessThan(0.01);
  });
});

describe('a playlist on a phone', () => {
  it.each([320, 390])('has one row of tools, rows of at most 88 px, and targets of 44 px, at %i px', async (width) => {
    const page = await see('list', width);
    for (const text of ['10:08', '≈ 301 MB'])
      await page.locator('.entry').getByText(text, { exact: true }).first().waitFor();
    await page.getByText('Nothing found').waitFor();
    const boxes = async (selector: string) =>
      Promise.all((await page.locator(selector).all()).map(async (one) => box(one)));
    const tools = await boxes('.toolbar > :not(.toolbar-end):visible, .toolbar-end > *');
    expect(tools).toHaveLength(3);
    expect(new Set(tools.map(({ y, height }) => Math.round(y + height / 2))).size).toBe(1);
    // One beside the other, and none below another.
    for (const [index, tool] of tools.entries())
      expect(tool.x + tool.width).toBeLessThanOrEqual(tools[index + 1]?.x ?? width - 16);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('combobox', { name: 'Format' }).waitFor();
    const heights = (await boxes('ol > .entry')).map(({ height }) => height);
    expect(heights).toHaveLength(5);
    expect(Math.max(...heights)).toBeLessThanOrEqual(88);
    const targets = await boxes(
      '.toolbar > .all, .toolbar-more select, .toolbar-end > .button, .entry-select, .entry-actions .button:visible, .toolbar-more .button',
    );
    for (const target of targets) expect(Math.min(target.width, target.height)).toBeGreaterThanOrEqual(44);
  });
});

describe('the selection of a playlist', () => {
  const select = (page: Page, name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true });
  const states = (page: Page) =>
    page.locator('.entry-select input').evaluateAll((all) => all.map((one) => (one as HTMLInputElement).checked));

  it('works by keyboard, and extends with Shift', async () => {
    const page = await see('list', 1280);
    await page.getByRole('checkbox', { name: 'Select all' }).uncheck();
    await select(page, 'Part Two: Along the Cliffs').focus();
    await page.keyboard.press('Space');
    expect(await states(page)).toEqual([false, true, false, false, false]);
    await page.getByRole('checkbox', { name: /^Select Part Four/ }).focus();
    await page.keyboard.press('Shift+Space');
    expect(await states(page)).toEqual([false, true, true, true, false]);
  });

  it('extends to a click with Shift', async () => {
    const page = await see('list', 1280);
    await select(page, 'Part Two: Along the Cliffs').click();
    await page.keyboard.down('Shift');
    await page.getByRole('checkbox', { name: /^Select Part Four/ }).click();
    expect(await states(page)).toEqual([true, false, false, false, true]);
  });
});

describe('playlist header', () => {
  it.each([320, 1280])('keeps its proportions with a long title at %i px', async (width) => {
    const page = await see('long-list', width);
    const cover = await box(page.locator('.playlist-head .cover'));
    expect(cover.width / cover.height).toBeCloseTo(16 / 9, 1);
    const [author, count] = await page.locator('.playlist-head .byline > *').evaluateAll((parts) =>
      parts.map((part) => {
        const text = document.createRange();
        text.selectNodeContents(part);
        return text.getBoundingClientRect();
      }),
    );
    // Where it is on a line of its own, no dot is before it.
    if (width === 320) expect([count?.x, count && author && count.y > author.y]).toEqual([author?.x, true]);
    const title = page.locator('.playlist-head h2');
    const lines = await title.evaluate((heading) => {
      const { lineHeight } = getComputedStyle(heading);
      return heading.getBoundingClientRect().height / Number.parseFloat(lineHeight);
    });
    expect(Math.round(lines)).toBeLessThanOrEqual(3);
  });
});
