import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { useTarget } from '../contract/target.ts';
import { afterFile } from '../support/after-file.ts';
import { itInDesktopChromium, launchChromiumProfile } from '../support/chromium.ts';
import { itInFirefox, launchFirefox } from '../support/firefox.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { TIMEOUT_MS } from '../web/fixtures/eventually.ts';
import { useFaultProxy } from '../web/fixtures/fault-proxy.ts';

/** What pages of other sites, extensions and links do to an instance, in real browsers. */

const folder = await temporaryFolder();
/** Serves pages whose markup is their query. `localhost` is another site than `127.0.0.1`. */
const pages = createServer((request, response) => {
  const markup = new URL(request.url ?? '/', 'http://localhost').searchParams.get('markup') ?? '';
  response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>page</title>${markup}`);
}).listen(0, 'localhost');
afterFile(() => {
  pages.closeAllConnections();
  pages.close();
});
await once(pages, 'listening');
const { port } = pages.address() as AddressInfo;
const strangerOrigin = `http://localhost:${port}`;
/** Chromium and Firefox resolve its subdomains to the loopback interface as well. */
const allowedOrigin = `http://allowed.localhost:${port}`;

const target = useTarget({ settings: { corsAllowedOrigins: [allowedOrigin] } });
const proxy = useFaultProxy(() => target.baseUrl);

interface OpenPage {
  goto(url: string, options: { waitUntil: 'domcontentloaded'; timeout: number }): Promise<unknown>;
  click(selector: string): Promise<unknown>;
}

interface RunningBrowser {
  newPage(): Promise<OpenPage>;
  close(): Promise<unknown>;
}

describe.each([
  [
    'Chromium',
    itInDesktopChromium,
    startChromium,
    { manifest_version: 3, background: { service_worker: 'background.js' } },
  ],
  ['Firefox', itInFirefox, startFirefox, { manifest_version: 2, background: { scripts: ['background.js'] } }],
] as const)('other sites in %s', (name, it, start, manifest) => {
  const extension = join(folder, name);
  /** The operation for a link that names who asked; each is resolved at most once. */
  const linkOf = (by: string) => `/files/clip.mp4?by=${by}-${name}`;
  const pathOf = (by: string, operation: string) =>
    `/api/${operation}?url=${encodeURIComponent(target.origin.url(linkOf(by)))}`;
  const urlOf = (by: string, operation = 'Fetch/GetResource') => proxy.baseUrl + pathOf(by, operation);
  /** In a tab of its own, without waiting for what the page loads. */
  const open = async (browser: RunningBrowser, origin: string, markup: string) => {
    const page = await browser.newPage();
    await page.goto(`${origin}/?markup=${encodeURIComponent(markup)}`, {
      waitUntil: 'domcontentloaded',
      timeout: TIMEOUT_MS,
    });
    return page;
  };
  const answered = (by: string, operation = 'Fetch/GetResource') =>
    proxy.answers.filter(([path]) => path === pathOf(by, operation)).map(([, status]) => status);
  const resolvedLinks = () => target.origin.requestsTo('/files/clip.mp4').map(({ path }) => path);

  beforeAll(async () => {
    await mkdir(extension);
    await writeFile(join(extension, 'manifest.json'), JSON.stringify({ ...manifest, name: 'test', version: '1' }));
    await writeFile(join(extension, 'background.js'), `fetch('${urlOf('extension')}').catch(() => undefined);`);
  });

  it('resolves nothing for what a page does by itself, and serves links, extensions and allowed pages', async () => {
    const browser = await start(extension);
    try {
      const { body } = await target.get(pathOf('key', 'Fetch/GetResource'));
      const media = `Stream/Media/${JSON.parse(body.toString()).mediaItems[0].video.bestQualityKey}`;
      const script = (by: string) => `<script>fetch('${urlOf(by)}')</script>`;
      const silent = (url: string) => `<script>fetch('${url}').catch(() => undefined)</script>`;
      const opaque = (method: string) => (url: string) =>
        `<script>fetch('${url}', { method: '${method}', mode: 'no-cors' })</script>`;
      const source = (element: string) => (url: string) => `<${element} src="${url}"></${element.split(' ', 1)}>`;
      const refused = {
        fetch: ['Fetch/GetResource', silent],
        'no-cors': ['Fetch/GetDetails', opaque('GET')],
        image: ['Get', (url: string) => `<img src="${url}">`],
        'cors-image': ['Get', (url: string) => `<img crossorigin src="${url}">`],
        video: ['Get', source('video')],
        script: ['Feed', source('script')],
        frame: ['Get', source('iframe')],
        embed: ['Feed', source('embed type="text/html"')],
        object: ['Feed', (url: string) => `<object data="${url}"></object>`],
        sandbox: ['Fetch/GetResource', () => `<iframe sandbox="allow-scripts" srcdoc="${script('sandbox')}"></iframe>`],
        data: ['Fetch/GetResource', () => source('iframe')(`data:text/html,${encodeURIComponent(script('data'))}`)],
        'stream-fetch': [media, silent],
        'stream-head': [media, opaque('HEAD')],
        'stream-video': [media, source('video')],
        'stream-frame': [media, source('iframe')],
        progress: ['Stream/Archive/Progress/a-job', (url: string) => `<script>new EventSource('${url}')</script>`],
      } as const;
      const markup = Object.entries(refused).map(([by, [operation, write]]) => write(urlOf(by, operation)));
      await open(browser, strangerOrigin, markup.join('\n'));
      for (const [by, [operation]] of Object.entries(refused))
        await expect.poll(() => answered(by, operation), { message: by }).toContain(403);

      const page = await open(browser, strangerOrigin, `<a href="${urlOf('link')}">link</a>`);
      await page.click('a');
      const downloads = await open(browser, strangerOrigin, `<a href="${urlOf('stream-link', media)}">link</a>`);
      await downloads.click('a');
      const saved = `<a download href="${urlOf('saved', media)}">save</a>`;
      const player = `<video src="${urlOf('player', media)}"></video>`;
      await (await open(browser, allowedOrigin, script('allowed') + player + saved)).click('a');
      const served = ['link', 'allowed', 'extension'];
      for (const by of served) await expect.poll(() => answered(by), { message: by }).toContain(200);
      for (const by of ['stream-link', 'player', 'saved'])
        await expect
          .poll(() => answered(by, media).map(String), { message: by })
          .toContainEqual(expect.stringMatching(/^20[06]$/));

      for (const by of Object.keys(refused)) expect(resolvedLinks(), by).not.toContain(linkOf(by));
      expect(resolvedLinks()).toEqual(expect.arrayContaining(served.map(linkOf)));
    } finally {
      await browser.close();
    }
  });
});

async function startChromium(extension: string): Promise<RunningBrowser> {
  const flags = [`--disable-extensions-except=${extension}`, `--load-extension=${extension}`];
  const context = await launchChromiumProfile(join(folder, 'profile'), ...flags);
  return { newPage: () => context.newPage(), close: () => context.close() };
}

async function startFirefox(extension: string): Promise<RunningBrowser> {
  const browser = await launchFirefox();
  await browser.installExtension(extension);
  return browser;
}
