import type { Page } from 'playwright-core';
import { describe, expect } from 'vitest';
import { itInChromium as it } from '../../support/chromium.ts';
import { eventually, useBrowser } from '../fixtures/browser.ts';
import { scriptedPage } from '../fixtures/scripted-page.ts';
import { useService } from '../fixtures/service.ts';

const service = useService();
const { open } = useBrowser();

/** Records every text of the polite live region, in order. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(() => {
    const heard: string[] = [];
    Object.assign(globalThis, { heard });
    new MutationObserver(() => {
      const said = document.querySelector('p[role=status]')?.textContent ?? '';
      if (said && said !== heard.at(-1)) heard.push(said);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  return () => page.evaluate(() => (globalThis as unknown as { heard: string[] }).heard);
}

describe('announcements', () => {
  it('announces resolving, the result and the download', async () => {
    const { page } = await open(`${service.baseUrl}/`);
    await page.locator('input:focus').waitFor();
    const heard = await listen(page);
    scriptedPage.hold();
    await page.keyboard.type(service.origin.url('/scripted/heard'));
    await page.keyboard.press('Enter');
    await eventually(heard).toEqual(['Loading.']);
    scriptedPage.respondWith(200);
    await eventually(async () => (await heard()).at(-1)).toMatch(/^Loaded Page heard.*\.$/);
    await page.getByRole('button', { name: /^Download ./ }).click();
    await page.getByRole('status').getByText('Download started. See your browser’s downloads.').waitFor();
  });

  it("announces a failure in the page's words", async () => {
    const { page } = await open(`${service.baseUrl}/`);
    await page.locator('input:focus').waitFor();
    const heard = await listen(page);
    await page.keyboard.type(service.origin.url('/site/drm/heard'));
    await page.keyboard.press('Enter');
    await eventually(async () => (await heard()).at(-1)).toMatch(/^Protected content\. It’s protected by DRM/);
  });
});

describe('keyboard navigation', () => {
  it('follows the visual order with a visible focus ring', async () => {
    const { page } = await open(service.baseUrl + service.pageFor('/site/combined/order'));
    await page.getByRole('article').waitFor();
    const places: number[] = [];
    const names: string[] = [];
    for (;;) {
      await page.keyboard.press('Tab');
      const stop = await page.evaluate(() => {
        const element = document.activeElement;
        if (!element || element === document.body) return undefined;
        const all = [...document.querySelectorAll('*')];
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        // A field or row may draw the ring for its control.
        const ring = (holder: Element | null): boolean => {
          if (!holder || holder === document.body) return false;
          const { outlineStyle: its, boxShadow } = getComputedStyle(holder);
          const hasGlow = holder.matches('.field') && boxShadow !== 'none';
          return its !== 'none' || hasGlow || ring(holder.parentElement);
        };
        const hasRing = (outlineStyle !== 'none' && outlineWidth !== '0px') || ring(element.parentElement);
        return {
          place: all.indexOf(element),
          hasRing,
          name: element.ariaLabel || element.textContent || element.tagName,
        };
      });
      if (!stop || places.includes(stop.place)) break;
      expect(stop.hasRing, stop.name).toBe(true);
      places.push(stop.place);
      names.push(stop.name);
    }
    expect(places).toEqual([...places].sort((a, b) => a - b));
    const order = [/start page/, /^Play Größe/, /^Download 720p/, /^Play$/, /Copy media link/, /^OpenAPI$/].map(
      (name) => names.findIndex((found) => name.test(found)),
    );
    expect(order.every((place) => place >= 0)).toBe(true);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  });

  it('keeps the focus when the result appears', async () => {
    const { page } = await open(`${service.baseUrl}/`);
    await page.locator('input:focus').waitFor();
    await page.keyboard.type(service.origin.url('/site/combined/focus'));
    await page.keyboard.press('Enter');
    await page.getByRole('article').waitFor();
    expect(await page.evaluate(() => document.activeElement?.getAttribute('name'))).toBe('url');
  });
});

describe('forced colours', () => {
  it.each(['light', 'dark'] as const)('draws graphics in system colours: %s', async (colorScheme) => {
    const { page } = await open(`${service.baseUrl}/`, { forcedColors: 'active', colorScheme });
    await page.getByRole('combobox', { name: 'Theme' }).waitFor();
    const look = await page.evaluate(() => {
      document.querySelector('.tape')?.classList.add('moving');
      const probe = document.createElement('p');
      probe.style.color = 'CanvasText';
      probe.style.backgroundColor = 'Canvas';
      document.body.append(probe);
      const of = (selector: string, part?: string) => getComputedStyle(document.querySelector(selector) ?? probe, part);
      const { color: ink, backgroundColor: ground } = getComputedStyle(probe);
      return {
        themes: [ink, ground],
        mark: [of('.logo-reel').fill, of('.logo-play').fill],
        tape: [of('.tape').backgroundColor, ground],
      };
    });
    const { themes, ...drawn } = look;
    expect(themes[0]).not.toBe(themes[1]);
    expect(drawn).toEqual({ mark: themes, tape: themes });
  });
});
