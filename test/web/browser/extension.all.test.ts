import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContext, Worker } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildExtension } from '../../../scripts/build-extension.ts';
import { toOrigin } from '../../../web/extension/address.ts';
import { BROWSERS, manifestFor } from '../../../web/extension/manifest.ts';
import { hasDesktopChromium, itInDesktopChromium, launchChromiumProfile } from '../../support/chromium.ts';
import { TIMEOUT_MS } from '../fixtures/browser.ts';

const folder = await mkdtemp(join(tmpdir(), 'reelay-extension-'));
const [chromiumFolder = ''] = await buildExtension(join(folder, 'built'));
afterAll(() => rm(folder, { recursive: true }));

describe('toOrigin', () => {
  it.each([
    ['https://r.example', 'https://r.example'],
    [' r.example/some/path/?x#y ', 'https://r.example/some/path'],
    ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
  ])('reads %s', (text, origin) => expect(toOrigin(text)).toBe(origin));

  it.each(['', 'javascript:alert(1)', 'file:///etc', 'ftp://r.example', 'https://user:secret@r.example', 'two words'])(
    'rejects %s',
    (text) => expect(toOrigin(text)).toBeUndefined(),
  );
});

describe('manifest', () => {
  it.each(BROWSERS)('of %s asks for no host and names files that exist', async (browser) => {
    const manifest = manifestFor(browser, '1.2.3');
    expect(manifest.permissions).toEqual(['activeTab', 'contextMenus', 'storage']);
    expect(manifest).not.toHaveProperty('host_permissions');
    const { service_worker, scripts } = manifest.background;
    const named = [service_worker, ...(scripts ?? []), manifest.options_ui.page, ...Object.values(manifest.icons)];
    const files = await readdir(join(folder, 'built', browser));
    expect(files).toEqual(expect.arrayContaining(named.filter(Boolean)));
  });

  it('has every text in every language', async () => {
    const locales = join(chromiumFolder, '_locales');
    const english = Object.keys(JSON.parse(await readFile(join(locales, 'en/messages.json'), 'utf8')));
    const languages = await readdir(locales);
    expect(languages).toHaveLength(8);
    for (const language of languages) {
      const texts = JSON.parse(await readFile(join(locales, language, 'messages.json'), 'utf8'));
      expect(Object.keys(texts), language).toEqual(english);
    }
  });
});

describe('in Chromium', () => {
  const server = createServer((_request, response) => response.end('<title>any page</title>'));
  let context: BrowserContext;
  let worker: Worker;
  let origin: string;
  beforeAll(async () => {
    if (!hasDesktopChromium) return;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    context = await launchChromiumProfile(
      join(folder, 'profile'),
      `--disable-extensions-except=${chromiumFolder}`,
      `--load-extension=${chromiumFolder}`,
    );
    worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  });
  afterAll(async () => {
    await context?.close();
    server.close();
  });

  /** Clicks a context menu item, which no automation can, by dispatching its event. */
  const clickMenu = (info: { menuItemId: string; linkUrl?: string; srcUrl?: string; pageUrl?: string }) =>
    worker.evaluate((clicked) => {
      const event = chrome.contextMenus.onClicked as unknown as { dispatch(info: object): void };
      event.dispatch(clicked);
    }, info);
  const openedBy = async (act: () => Promise<unknown>): Promise<string> => {
    const [page] = await Promise.all([context.waitForEvent('page'), act()]);
    await page.waitForURL(/^(http|chrome-extension)/);
    const url = page.url();
    await page.close();
    return url;
  };

  /** The options page, which may open in the tab that is there. */
  const optionsPage = () =>
    vi.waitUntil(() => context.pages().find((page) => page.url().endsWith('/options.html')), TIMEOUT_MS);

  itInDesktopChromium('asks for the address of the server after its installation and stores it', async () => {
    const options = await optionsPage();
    await options.getByLabel('Address of your Reelay server').fill('javascript:alert(1)');
    await options.getByRole('button', { name: 'Save' }).click();
    await options.getByText('That’s not a web address.').waitFor();
    await options.getByLabel('Address of your Reelay server').fill(`${origin}/?url=x#y`);
    await options.getByRole('button', { name: 'Save' }).click();
    await options.getByText('Saved.').waitFor();
    expect(await options.getByRole('textbox').inputValue()).toBe(origin);
  });

  itInDesktopChromium.for([
    [
      'open',
      { linkUrl: 'https://a.example/x?y=1&z=2', pageUrl: 'https://b.example/' },
      'https://a.example/x?y=1&z=2',
      '',
    ],
    [
      'download',
      { srcUrl: 'blob:https://b.example/1', pageUrl: 'https://b.example/v' },
      'https://b.example/v',
      '#download',
    ],
    ['download', { srcUrl: 'https://c.example/f.mp4' }, 'https://c.example/f.mp4', '#download'],
  ] as const)('%s %o opens %s', async ([menuItemId, info, link, hash]) => {
    const url = await openedBy(() => clickMenu({ menuItemId, ...info }));
    expect(url).toBe(`${origin}/?url=${encodeURIComponent(link)}${hash}`);
  });

  itInDesktopChromium('opens the options while no server is known', async () => {
    await (await optionsPage()).goto('about:blank');
    await worker.evaluate(() => chrome.storage.sync.clear());
    await clickMenu({ menuItemId: 'open', pageUrl: 'https://a.example/' });
    await optionsPage();
  });
});
