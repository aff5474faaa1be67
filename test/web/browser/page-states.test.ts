import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import type AxeCore from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { LOCALES } from '../../../web/src/lib/texts.ts';
import { itInChromium as it } from '../../support/chromium.ts';
import { useFakeInstance } from '../fakes/instance.ts';
import { useBrowser } from '../fixtures/browser.ts';
import { findLayoutProblems } from './layout-problems.ts';
import { STATES } from './page-states.ts';

/** `SCREENSHOTS=1` writes one picture per state, width and scheme here, for review: no assertion reads them. */
const SCREENSHOT_DIR = resolve(import.meta.dirname, '../../../.data/screenshots');
const writesScreenshots = Boolean(process.env.SCREENSHOTS);
const WIDTHS = [320, 768, 1280] as const;
const SCHEMES = ['light', 'dark'] as const;
/** WCAG 2.2 AA and axe's best practices. */
const AXE_TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

const { open } = useBrowser();
const instance = useFakeInstance();
let axe = '';
beforeAll(async () => {
  await mkdir(SCREENSHOT_DIR, { recursive: true });
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
});

/** axe's violations, one line each. */
async function accessibilityViolations(page: Page): Promise<string[]> {
  return page.evaluate(async (tags) => {
    const { axe } = globalThis as unknown as { axe: typeof AxeCore };
    // Preloading media would wait for files the fake instance never sends.
    const preload = { assets: ['cssom' as const] };
    const { violations } = await axe.run(document, { runOnly: tags, resultTypes: ['violations'], preload });
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(' | ')}`);
  }, AXE_TAGS);
}

describe('page states', () => {
  it.each(STATES)('$name: has no layout problems or accessibility violations', async (state) => {
    instance.health = state.health ?? 'healthy';
    const { page } = await open(instance.baseUrl + state.path, {
      baseURL: instance.baseUrl,
      locale: state.locale ?? 'en',
      reducedMotion: 'reduce',
      reusePage: true,
    });
    await page.getByText(state.shows).first().waitFor({ state: 'attached' });
    await state.act?.(page);
    await page.evaluate(axe);
    const problems: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: width < 500 ? 640 : 800 });
      problems.push(...(await page.evaluate(findLayoutProblems)).map((problem) => `${width}: ${problem}`));
      // The whole page: sticky parts belong to its end.
      const height = await page.evaluate(() => document.documentElement.scrollHeight);
      await page.setViewportSize({ width, height });
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        // Colours do not depend on the width: each scheme at one of the two extreme layouts covers both.
        if (width === (colorScheme === 'light' ? 1280 : 320))
          problems.push(
            ...(await accessibilityViolations(page)).map((problem) => `${width} ${colorScheme}: ${problem}`),
          );
        if (!writesScreenshots) continue;
        await page.screenshot({ path: join(SCREENSHOT_DIR, `${state.name}-${width}-${colorScheme}.png`) });
      }
    }
    expect(problems).toEqual([]);
  });

  it.each(LOCALES)('fits a window of 320 px in %s', async (locale) => {
    instance.health = 'healthy';
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
      problems.push(...(await page.evaluate(findLayoutProblems)));
    }
    expect(problems).toEqual([]);
  });
});
