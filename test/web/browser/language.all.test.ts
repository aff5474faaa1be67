import { describe, expect } from 'vitest';
import { eventually, it, usePage, type Visitor } from '../fixtures/page.ts';

const { open } = usePage();

const select = (visitor: Visitor, language: string) =>
  visitor.page.locator('footer select').first().selectOption(language);
const language = ({ page }: Visitor) =>
  eventually(() =>
    page.evaluate(() => {
      const { lang, dir } = document.documentElement;
      return [lang, dir, document.querySelector('select')?.value];
    }),
  );

describe('page language', () => {
  it('is the selected one, with its direction', async () => {
    const visitor = await open('/', { locale: 'de-AT' });
    await language(visitor).toEqual(['de', 'ltr', 'de']);
    await select(visitor, 'ar');
    await language(visitor).toEqual(['ar', 'rtl', 'ar']);
    await visitor.page.reload();
    await language(visitor).toEqual(['ar', 'rtl', 'ar']);
    expect(await visitor.field.getAttribute('dir')).toBe('ltr');
    expect(await visitor.page.getByRole('heading', { level: 1 }).textContent()).toMatch(/\p{Script=Arabic}/u);
  });

  it('stays the current one when another fails to load', async () => {
    const visitor = await open();
    const { page } = visitor;
    // As when offline, or after a deployment.
    await page.route(/\/assets\/de-/, (route) => route.abort());
    const asked = page.waitForEvent('requestfailed');
    await select(visitor, 'de');
    await asked;
    await language(visitor).toEqual(['en', 'ltr', 'en']);
    await page.reload();
    await language(visitor).toEqual(['en', 'ltr', 'en']);
    // Only the request failed: the next load has it.
    await page.unrouteAll();
    await page.reload();
    await select(visitor, 'de');
    await language(visitor).toEqual(['de', 'ltr', 'de']);
  });

  it.each<[readonly ('getItem' | 'setItem')[]]>([[['setItem']], [['getItem']], [['getItem', 'setItem']]])(
    'can be changed where storage refuses %j, as private windows and full disks do',
    async (names) => {
      const visitor = await open('about:blank', { locale: 'fr' });
      await visitor.context.addInitScript((methods) => {
        for (const method of methods)
          Storage.prototype[method] = () => {
            throw new DOMException('Refused', 'SecurityError');
          };
      }, names);
      await visitor.page.goto('/');
      await language(visitor).toEqual(['fr', 'ltr', 'fr']);
      await select(visitor, 'de');
      await language(visitor).toEqual(['de', 'ltr', 'de']);
    },
  );
});
