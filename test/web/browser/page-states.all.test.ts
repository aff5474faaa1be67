import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type AxeCore from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { LOCALES } from '../../../web/src/texts.ts';
import { itInChromium as it } from '../../support/chromium.ts';
import { useFakeInstance } from '../fakes/instance.ts';
import { REFUSALS } from '../fakes/resources.ts';
import { useBrowser, type Visitor } from '../fixtures/browser.ts';
import { findLayoutProblems } from './layout-problems.ts';
import { addressOf, type PageState, STATES } from './page-states.ts';

/** `npm run dev -- pictures` sets the folder, for one picture per state, width and scheme. No assertion reads them. */
const { PICTURES_DIR } = process.env;
/** Widths of windows in pixels. */
const WIDTHS = [320, 390, 768, 1440, 2560] as const;
/** Widths at which axe runs, one column and several, each with the scheme for states that are not main ones. */
const AXE_SCHEMES: Readonly<Record<number, Scheme>> = { 320: 'light', 1440: 'dark' };
/** Where the borders of forced colours have the least room. */
const NARROWEST = 320;
const SCHEMES = {
  light: { colorScheme: 'light', forcedColors: 'none' },
  dark: { colorScheme: 'dark', forcedColors: 'none' },
  forced: { colorScheme: 'light', forcedColors: 'active' },
} as const;
type Scheme = keyof typeof SCHEMES;
/** WCAG 2.2 AA and axe's best practices. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const { open } = useBrowser();
const instance = useFakeInstance();
let axe = '';
beforeAll(async () => {
  if (PICTURES_DIR) await mkdir(PICTURES_DIR, { recursive: true });
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
});

/** Rules whose results depend on more than which elements are shown: on their positions, or on their colours. */
const POSITION_RULES = ['scrollable-region-focusable', 'target-size'];
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** axe's violations of rules, one line each. */
const accessibilityViolations = (page: Page, runOnly: AxeCore.RunOnly): Promise<string[]> =>
  page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { axe: typeof AxeCore };
    // Preloading media would wait for files the fake instance never sends.
    const preload = { assets: ['cssom' as const] };
    const { violations } = await axe.run(document, { runOnly: rules, resultTypes: ['violations'], preload });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(' | ')}`);
  }, runOnly);

/** Selects the rules that can find something new in a layout after those of the same state before it. */
function createRuleSelection() {
  const known = new Set<string>();
  /** @param shown the result of `shownElements` */
  return (shown: string, scheme: Scheme): AxeCore.RunOnly => {
    const colours = `${scheme} ${shown}`;
    const values = known.has(colours) ? POSITION_RULES : [...POSITION_RULES, ...COLOUR_RULES];
    const selection = known.has(shown) ? { type: 'rule' as const, values } : { type: 'tag' as const, values: AXE_TAGS };
    known.add(shown).add(colours);
    return selection;
  };
}

/** The elements of the page and which of them are shown. */
const shownElements = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const shown = [...document.querySelectorAll('*')].map((element) =>
      Number(element.checkVisibility({ opacityProperty: true, visibilityProperty: true })),
    );
    return document.documentElement.outerHTML + shown.join('');
  });

const load = (path: string, locale = 'en') =>
  open(instance.baseUrl + path, { baseURL: instance.baseUrl, locale, reducedMotion: 'reduce', reusePage: true });

/** The page as the last state left it, if another one can be reached from there: half the time of loading it. */
let left: Visitor | undefined;

/** Shows a state. */
async function show({ path, shows, act, leavesTraces }: PageState): Promise<Page> {
  const isWithin = path.startsWith('/?url=');
  const before = isWithin ? left : undefined;
  if (before) await goWithin(before.page, path);
  const visitor = before ?? (await load(path));
  left = isWithin && !leavesTraces ? visitor : undefined;
  const { page } = visitor;
  await page.getByText(shows).first().waitFor({ state: 'attached' });
  await act?.(visitor);
  // Some states load the page again.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page;
}

/** Opens another link without loading the page, after the start page, so that nothing of the last one stays. */
async function goWithin(page: Page, path: string): Promise<void> {
  for (const address of ['/', path])
    await page.evaluate(async (next) => {
      await navigation.navigate(next).finished;
    }, address);
}

/** Sets the width, and the height of the whole page: sticky parts belong to its end. */
async function resize(page: Page, width: number): Promise<void> {
  await page.setViewportSize({ width, height: width < 500 ? 640 : 800 });
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewportSize({ width, height });
  // Parts that depend on the width are drawn again in the next frame.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

/** By the page's own control: without loading it again. */
async function changeLanguage(page: Page, locale: 'ar' | 'en'): Promise<void> {
  await page.locator('footer select').first().selectOption(locale);
  await page.locator(`html[lang=${locale}]`).waitFor();
}

describe('page states', () => {
  it.each(STATES)('$name: has no layout problems or accessibility violations', async (state) => {
    const page = await show(state);
    if (PICTURES_DIR && state.name === 'video') await takeReadmePicture(page, PICTURES_DIR);
    const problems: string[] = [];
    const selectRules = createRuleSelection();
    const check = async (place: string, scheme: Scheme, hasAxe: boolean) => {
      const found = await page.evaluate(findLayoutProblems);
      if (hasAxe) found.push(...(await accessibilityViolations(page, selectRules(await shownElements(page), scheme))));
      problems.push(...found.map((problem) => `${place}: ${problem}`));
      if (PICTURES_DIR) await page.screenshot({ path: join(PICTURES_DIR, `${state.name}-${place}.png`) });
    };
    for (const width of WIDTHS) {
      await resize(page, width);
      const schemeOfAxe = AXE_SCHEMES[width];
      for (const scheme of Object.keys(SCHEMES) as Scheme[]) {
        const hasAxe = schemeOfAxe !== undefined && (state.isMain || scheme === schemeOfAxe);
        // Dark and light differ in colours alone, which only axe checks.
        const hasOwnLayout = scheme === 'light' || (scheme === 'forced' && width === NARROWEST);
        if (!hasAxe && !hasOwnLayout && !PICTURES_DIR) continue;
        await page.emulateMedia(SCHEMES[scheme]);
        await check(`${width}-${scheme}`, scheme, hasAxe);
      }
      await page.emulateMedia(SCHEMES.light);
    }
    if (state.isMain) {
      await changeLanguage(page, 'ar');
      for (const width of WIDTHS) {
        await resize(page, width);
        await check(`${width}-rtl`, 'light', width in AXE_SCHEMES);
      }
      await changeLanguage(page, 'en');
    }
    expect(problems).toEqual([]);
  });
});

/** What has words of its own: the start page, results with long or foreign titles, and each refusal. */
const TEXTS = ['', 'video', 'long', 'list', 'long-list', 'counted', 'japanese', 'arabic', ...Object.keys(REFUSALS)];

describe('every text', () => {
  it.each(LOCALES)('has its room in %s', async (locale) => {
    const visitor = await load('/', locale);
    const { page } = visitor;
    // By the script of the page, which then opens addresses without loading it again.
    await visitor.fieldHasFocus();
    const problems: string[] = [];
    for (const name of TEXTS) {
      await goWithin(page, name ? addressOf(name) : '/');
      await page
        .locator(name ? '.result h2' : 'h1')
        .first()
        .waitFor();
      for (const width of [320, 768, 1440]) {
        await page.setViewportSize({ width, height: 800 });
        const found = await page.evaluate(findLayoutProblems);
        problems.push(...found.map((problem) => `${name} at ${width} px: ${problem}`));
      }
    }
    expect(problems).toEqual([]);
  });
});

/** For `docs/page.png`: a desk and a phone side by side. */
async function takeReadmePicture(page: Page, folder: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.getByText('no subtitles').first().waitFor({ state: 'attached' });
  const windows: string[] = [];
  for (const width of [1020, 390]) {
    await page.setViewportSize({ width, height: 660 });
    await page.evaluate(() => scrollTo(0, 0));
    const picture = await page.screenshot();
    windows.push(`<img src="data:image/png;base64,${picture.toString('base64')}">`);
  }
  const desk = await page.context().newPage();
  await desk.setViewportSize({ width: 1530, height: 740 });
  await desk.setContent(`<style>
    body { margin: 0; padding: 40px; display: flex; gap: 40px; background: #d6d3ce }
    img { border-radius: 16px; box-shadow: 0 4px 16px #0003 }
  </style>${windows.join('')}`);
  await desk.screenshot({ path: join(folder, 'page.png') });
  await desk.close();
}
