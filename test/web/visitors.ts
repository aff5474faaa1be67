import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { PATIENCE } from './site.ts';

/** Somebody with a browser of their own. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Every request since the visitor came. */
  readonly requests: readonly Request[];
  /** Requests for a resolve so far. */
  resolves(): number;
}

export interface VisitorOptions extends BrowserContextOptions {
  /** As in a browser that lets a page only download: no picker of files or folders. @default true */
  readonly withoutPicker?: boolean;
  /** What the console is expected to complain of. */
  readonly noisy?: RegExp;
}

export interface Visitors {
  /** Somebody new at an address, gone after the test. What their console complained of fails the test. */
  come(address: string, options?: VisitorOptions): Promise<Visitor>;
}

/** What Chromium itself notes of any answer above 399: the page shows those in words. */
const NOTED = /^Failed to load resource: /;

/** Visitors of one test file, in one browser. */
export function useVisitors(): Visitors {
  let browser: Browser | undefined;
  let here: { context: BrowserContext; complaints: string[] }[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    const complaints = here.flatMap((visitor) => visitor.complaints);
    const contexts = here.map(({ context }) => context);
    here = [];
    await Promise.all(contexts.map((context) => context.close()));
    expect(complaints).toEqual([]);
  });

  return {
    async come(address, { withoutPicker = true, noisy, ...options } = {}) {
      if (!browser) expect.fail('The browser is there only while tests run');
      // A worker would answer for the service: only tests of it want one.
      const context = await browser.newContext({ locale: 'en', serviceWorkers: 'block', ...options });
      const complaints: string[] = [];
      here.push({ context, complaints });
      context.setDefaultTimeout(PATIENCE);
      if (withoutPicker)
        await context.addInitScript(() =>
          Object.assign(globalThis, { showSaveFilePicker: undefined, showDirectoryPicker: undefined }),
        );
      const page = await context.newPage();
      const requests: Request[] = [];
      page.on('request', (request) => requests.push(request));
      page.on('console', (message) => {
        const text = message.text();
        if (message.type() === 'error' && !NOTED.test(text) && !noisy?.test(text)) complaints.push(text);
      });
      page.on('pageerror', (error) => complaints.push(String(error)));
      await page.goto(address);
      const resolves = () => requests.filter((request) => request.url().includes('/api/Fetch/GetResource')).length;
      return { page, context, requests, resolves };
    },
  };
}

/** What a test asks the page for again and again: it has as much patience as a visitor. */
export const eventually = <T>(ask: () => T | Promise<T>) => expect.poll(ask, { timeout: PATIENCE, interval: 50 });
