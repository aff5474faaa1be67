import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type AxeCore from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { buildPage } from '../../../local/page/build-page.ts';
import { LOCALES } from '../../../web/src/lib/texts.ts';
import { ensureMedia } from '../../origin/media.ts';
import { itInChromium as it } from '../../support/chromium.ts';
import { type MadeUpInstance, startMadeUpInstance } from '../fakes/instance.ts';
import { useBrowser } from '../fixtures/browser.ts';
import { measureLooks } from './layout-problems.ts';
import { STATES } from './page-states.ts';

/** Where the pictures go, one for each state, width and scheme: to be looked at. */
const PICTURES = resolve(import.meta.dirname, '../../.data/screens');
const WIDTHS = [320, 768, 1280] as const;
const SCHEMES = ['light', 'dark'] as const;
/** WCAG 2.2 AA and what its authors recommend beyond. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const { open } = useBrowser();
let instance: MadeUpInstance;
let axe = '';
beforeAll(async () => {
  await mkdir(PICTURES, { recursive: true });
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  const [pageDir, mediaDir] = await Promise.all([buildPage(), ensureMedia()]);
  instance = await startMadeUpInstance({ pageDir, clip: await readFile(join(mediaDir, 'clip.mp4')) });
});
afterAll(() => instance?.close());

/** What axe finds, in a line each. */
async function barriersOf(page: Page): Promise<string[]> {
  return page.evaluate(async (rules) => {
    const { axe } = globalThis as unknown as { axe: typeof AxeCore };
    // It would wait for media that never come.
    const preload = { assets: ['cssom' as const] };
    const { violations } = await axe.run(document, { runOnly: rules, resultTypes: ['violations'], preload });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(' | ')}`);
  }, RULES);
}

describe('a state of the page', () => {
  it.each(STATES)('$name has room, words and colours for everyone', async (state) => {
    instance.mood = state.mood ?? 'well';
    const { page } = await open('about:blank', {
      baseURL: instance.baseUrl,
      locale: state.locale ?? 'en',
      reducedMotion: 'reduce',
    });
    await page.goto(state.path);
    await page.getByText(state.shows).first().waitFor({ state: 'attached' });
    await state.act?.(page);
    await page.evaluate(axe);
    const problems: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width < 500 ? 640 : 800 });
      problems.push(...(await page.evaluate(measureLooks)).map((problem) => `${width}: ${problem}`));
      // What sticks to the edge of a window sticks to the end of the picture.
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({ width, height });
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        // Colours are the same at every width; the widest layout and the narrowest have between them all there is.
        if (width === (colorScheme === 'light' ? 1280 : 320))
          problems.push(...(await barriersOf(page)).map((problem) => `${width} ${colorScheme}: ${problem}`));
        await page.screenshot({ path: join(PICTURES, `${state.name}-${width}-${colorScheme}.png`) });
      }
    }
    expect(problems).toEqual([]);
  });

  it.each(LOCALES)('fits a small window in the language %s', async (locale) => {
    instance.mood = 'well';
    const viewport = { width: 320, height: 640 };
    const { page } = await open('about:blank', {
      baseURL: instance.baseUrl,
      locale,
      viewport,
      reducedMotion: 'reduce',
    });
    const problems: string[] = [];
    for (const name of ['', 'video', 'list', 'login', 'too-many']) {
      await page.goto(name === '' ? '/' : `/?url=https://video.example/${name}`);
      await page
        .locator(name ? 'article h2, .notice h2' : 'h1')
        .first()
        .waitFor();
      problems.push(...(await page.evaluate(measureLooks)));
    }
    expect(problems).toEqual([]);
  });
});
