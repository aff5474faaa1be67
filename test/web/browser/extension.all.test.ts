import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { BrowserContext, Worker } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { buildExtension } from '../../../scripts/build-extension.ts';
import { toOrigin } from '../../../web/extension/address.ts';
import { BROWSERS, manifestFor } from '../../../web/extension/manifest.ts';
import { hasDesktopChromium, itInDesktopChromium, launchChromiumProfile } from '../../support/chromium.ts';
import { listen } from '../../support/listen.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { TIMEOUT_MS } from '../fixtures/eventually.ts';

const folder = await temporaryFolder();
const [chromiumFolder = ''] = await buildExtension(join(folder, 'built'));

it.each<[string, string | undefined]>([
  ['https://r.example', 'https://r.example'],
  [' r.example/some/path/?x#y ', 'https://r.example/some/path'],
  ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
  ...['', 'javascript:alert(1)', 'file:///etc', 'ftp://r.example', 'https://user:secret@r.example', 'two words'].map(
    (text): [string, undefined] => [text, undefined],
  ),
])('the address of a server %j is %j', (text, origin) => expect(toOrigin(text)).toBe(origin));

it.each(BROWSERS)('the manifest of %s asks for no host and names files that exist', async (browser) => {
  const manifest = manifestFor(browser, '1.2.3');
  expect(manifest.permissions).toEqual(['activeTab', 'contextMenus', 'storage']);
  expect(manifest).not.toHaveProperty('host_permissions');
  const { service_worker, scripts } = manifest.background;
  const named = [service_worker, ...(scripts ?? []), manifest.options_ui.page, ...Object.values(manifest.icons)];
  const files = await readdir(join(folder, 'built', browser));
  expect(files).toEqual(expect.arrayContaining(named.filter(Boolean)));
});

it('the extension has every text in every language', async () => {
  const locales = join(chromiumFolder, '_locales');
  const languages = await readdir(locales);
  expect(languages).toHaveLength(8);
  const keys = languages.map(async (language) =>
    Object.keys(JSON.parse(await readFile(join(locales, language, 'messages.json'), 'utf8'))).join(),
  );
  expect(new Set(await Promise.all(keys)).size).toBe(1);
});

describe('in Chromium', () => {
  let context: BrowserContext;
  let worker: Worker;
  let server: Awaited<ReturnType<typeof listen>>;
  beforeAll(async () => {
    if (!hasDesktopChromium) return;
    server = await listen(createServer((_request, response) => response.end('<title>any page</title>')));
    const flags = [`--disable-extensions-except=${chromiumFolder}`, `--load-extension=${chromiumFolder}`];
    context = await launchChromiumProfile(join(folder, 'profile'), ...flags);
    worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  });
  afterAll(async () => {
    await context?.close();
    await server?.close();
  });

  /** Clicks a context menu item, which no automation can, by dispatching its event. */
  const clickMenu = (info: { menuItemId: string; linkUrl?: string; srcUrl?: string; pageUrl?: string }) =>
    worker.evaluate((clicked) => {
      const event = chrome.contextMenus.onClicked as unknown as { dispatch(info: object): void };
      event.dispatch(clicked);
    }, info);

  /** The options page, which may open in the tab that is there. */
  const optionsPage = () =>
    vi.waitUntil(() => context.pages().find((page) => page.url().endsWith('/options.html')), TIMEOUT_MS);

  itInDesktopChromium('asks for the address of the server after its installation and stores it', async () => {
    const options = await optionsPage();
    for (const [address, says] of [
      ['javascript:alert(1)', 'That’s not a web address.'],
      [`${server.url}/?url=x#y`, 'Saved.'],
    ] as const) {
      await options.getByLabel('Address of your Reelay server').fill(address);
      await options.getByRole('button', { name: 'Save' }).click();
      await options.getByText(says).waitFor();
    }
    expect(await options.getByRole('textbox').inputValue()).toBe(server.url);
  });

  const [A, B] = ['https://a.example/x?y=1&z=2', 'https://b.example/v'];
  itInDesktopChromium.for([
    ['open', { linkUrl: A, pageUrl: B }, A, ''],
    ['download', { srcUrl: 'blob:https://b.example/1', pageUrl: B }, B, '#download'],
    ['download', { srcUrl: A }, A, '#download'],
  ] as const)('%s %o opens %s', async ([menuItemId, info, link, hash]) => {
    const [page] = await Promise.all([context.waitForEvent('page'), clickMenu({ menuItemId, ...info })]);
    await page.waitForURL(/^http/);
    expect(page.url()).toBe(`${server.url}/?url=${encodeURIComponent(link)}${hash}`);
    await page.close();
  });

  itInDesktopChromium('opens the options while no server is known', async () => {
    await (await optionsPage()).goto('about:blank');
    await worker.evaluate(() => chrome.storage.sync.clear());
    await clickMenu({ menuItemId: 'open', pageUrl: A });
    await optionsPage();
  });
});
