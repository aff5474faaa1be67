/**
 * `node test/web/screens.ts [folder] [state, width or scheme…]`: builds the page, goes through its states in light and
 * dark and in three widths, keeps a picture of each, and says what axe finds, what the policy refused and what moved.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { build } from 'vite';
import { ensureMedia } from '../origin/media.ts';
import { startMadeUpInstance } from './made-up-instance.ts';
import { type PageState, STATES } from './states.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const WIDTHS = [320, 768, 1280] as const;
const SCHEMES = ['light', 'dark'] as const;
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** Sums what moved without being asked to (web.dev/cls). */
const MEASURE = `globalThis.moved = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) moved += value;
  }).observe({ type: 'layout-shift', buffered: true });`;

const [folder = join(ROOT, '.data/screens'), ...words] = process.argv.slice(2);
const only = <T extends string | number>(all: readonly T[]): readonly T[] => {
  const named = all.filter((one) => words.includes(String(one)));
  return named.length > 0 ? named : all;
};
const axe = await readFile(join(ROOT, 'node_modules/axe-core/axe.min.js'), 'utf8');
const pageDir = join(folder, 'page');
await mkdir(folder, { recursive: true });
await build({
  configFile: join(ROOT, 'web/vite.config.ts'),
  build: { outDir: pageDir, emptyOutDir: true },
  logLevel: 'warn',
});
const clip = await readFile(join(await ensureMedia(), 'clip.mp4'));
const instance = await startMadeUpInstance({ pageDir, clip });
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const chosen = only(STATES.map(({ name }) => name));
  for (const state of STATES.filter(({ name }) => chosen.includes(name)))
    for (const problem of await look(browser, state)) console.log(`${state.name}: ${problem}`);
} finally {
  await browser.close();
  await instance.close();
}

/** Pictures of one state; what is wrong with it. */
async function look(browser: Browser, state: PageState): Promise<string[]> {
  const problems = new Set<string>();
  for (const colorScheme of only(SCHEMES)) {
    for (const width of only(WIDTHS)) {
      const context = await browser.newContext({
        baseURL: instance.baseUrl,
        colorScheme,
        viewport: { width, height: width < 500 ? 640 : 800 },
        locale: state.locale ?? 'en',
        serviceWorkers: 'block',
        bypassCSP: false,
      });
      try {
        await visit(context, state, problems, `${state.name}-${width}-${colorScheme}`);
      } catch (error) {
        problems.add(`${width} ${colorScheme}: ${String(error).split('\n', 1)[0]}`);
      } finally {
        await context.close();
      }
    }
  }
  return [...problems];
}

async function visit(context: BrowserContext, state: PageState, problems: Set<string>, name: string): Promise<void> {
  instance.mood = state.mood ?? 'well';
  const page = await context.newPage();
  page.setDefaultTimeout(8000);
  page.on('console', (message) => {
    if (/Content Security Policy|Uncaught/.test(message.text())) problems.add(message.text());
  });
  page.on('pageerror', (error) => problems.add(String(error)));
  await page.addInitScript(MEASURE);
  await page.goto(state.path);
  await page.getByText(state.shows).first().waitFor({ state: 'attached' });
  try {
    await state.act?.(page);
    for (const problem of await examine(page)) problems.add(problem);
  } finally {
    // What sticks to the edge of a window sticks to the end of the picture.
    const { width = 0, height = 0 } = page.viewportSize() ?? {};
    const all = await page.evaluate<number>('document.documentElement.scrollHeight');
    await page.setViewportSize({ width, height: Math.max(height, all) });
    await page.screenshot({ path: join(folder, `${name}.png`) });
  }
}

/** What axe finds, whether anything sticks out sideways, and how much moved without being asked to. */
async function examine(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(
    `(async () => {
      const { violations } = await axe.run(document, { runOnly: ${JSON.stringify(TAGS)} });
      const { scrollWidth, clientWidth } = document.documentElement;
      return [
        ...violations.map(({ id, nodes }) => 'axe ' + id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | ')),
        ...(scrollWidth > clientWidth ? ['wider than its window: ' + scrollWidth] : []),
        ...(moved > 0.05 ? ['moved by itself: ' + moved.toFixed(3)] : []),
      ];
    })()`,
  );
}
