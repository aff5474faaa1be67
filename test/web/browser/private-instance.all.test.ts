import { describe, expect } from 'vitest';
import { hashAccessKey } from '../../../core/config/file-settings.ts';
import { CLIPBOARD, it, type OpenOptions, usePage, type Visitor } from '../fixtures/page.ts';

const KEY = 'key-of-a-private-page';
const OLD_KEY = 'a-key-of-another-year';
const COOKIE = { name: 'reelay-access-key', sameSite: 'Strict' } as const;
const { see, service } = usePage({ settings: { accessKeys: [hashAccessKey(KEY)] } });

/** Opens a link, which asks for the key. */
async function ask(path: string, options?: OpenOptions) {
  const visitor = await see(path, options);
  const dialog = visitor.byRole('dialog', 'This server is private');
  await dialog.waitFor();
  const enter = async (key: string, isRemembered = false) => {
    await dialog.getByLabel('Access key').fill(key);
    if (isRemembered) await dialog.getByLabel('Remember on this device').check();
    await visitor.page.keyboard.press('Enter');
  };
  const refuses = () => dialog.getByRole('alert').filter({ hasText: 'didn’t accept this key' }).waitFor();
  const cancel = async () => {
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await visitor.heading('This server is private');
  };
  return { visitor, dialog, enter, refuses, cancel };
}

describe('the page of a private instance', () => {
  it('asks for the key once, and then resolves, streams and reloads without asking', async () => {
    const { visitor, dialog, enter, refuses } = await ask('/site/combined/private');
    await enter('another-key-of-length');
    await refuses();
    await enter(KEY, true);
    await visitor.item('private');
    expect(await dialog.count()).toBe(0);

    const [cookie] = await visitor.context.cookies();
    expect(cookie).toMatchObject({ ...COOKIE, path: '/' });
    expect(cookie?.expires).toBeGreaterThan(Date.now() / 1000 + 300 * 24 * 3600);
    const status = await visitor.page.evaluate(async () => (await fetch('/api/App/requests')).status);
    expect(status).toBe(200);

    await visitor.page.reload();
    await visitor.item('private');
    expect(await dialog.count()).toBe(0);
    expect(visitor.asked(new RegExp(KEY))).toBe(0);
  });

  it('forgets a remembered key that is refused, also where the question is cancelled, and asks again', async () => {
    const { visitor, dialog, enter, refuses, cancel } = await ask('/site/combined/changed');
    const { page, context } = visitor;
    const logged: string[] = [];
    page.on('console', (message) => logged.push(message.text()));
    await enter(OLD_KEY, true);
    await refuses();
    await cancel();
    expect(await context.cookies()).toEqual([]);

    // One that was accepted before.
    const expires = Date.now() / 1000 + 3600;
    await context.addCookies([{ ...COOKIE, value: OLD_KEY, url: service.baseUrl, expires }]);
    await visitor.press('Try again');
    await refuses();
    expect(await context.cookies()).toEqual([]);
    await dialog.locator('input:focus').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await visitor.press('Try again');
    await enter(KEY);
    await visitor.item('changed');
    expect(logged.filter((text) => text.includes('key-of'))).toEqual([]);
  });

  it('has links of a list that admit clients without the key: podcast clients, players', async () => {
    const { visitor, enter } = await ask('/site/list/private?n=3&dead=2', CLIPBOARD);
    await enter(KEY);
    await visitor.page.locator('.toolbar-more a[href*="access="]').first().waitFor({ state: 'attached' });
    await visitor.says('No longer available');
    expect(await statusOfLinks(visitor)).toEqual([200, 200, 200]);
  });
});

async function statusOfLinks(visitor: Visitor): Promise<number[]> {
  await visitor.press('More');
  const links = visitor.page.locator('.toolbar-more a');
  const addresses = await links.evaluateAll((all) => all.map((one) => (one as HTMLAnchorElement).href));
  await visitor.press('Copy podcast feed');
  await visitor.announces('Copied.');
  const all = [...addresses, await visitor.copied()];
  return Promise.all(all.map(async (address) => (await fetch(address, { redirect: 'manual' })).status));
}
