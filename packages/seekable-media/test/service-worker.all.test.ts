import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join as pathOf } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { hasChromium, itInChromium as it, launchChromium } from '../../../test/support/chromium.ts';
import { closeAfterwards } from '../../../test/support/close-afterwards.ts';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { join, urlSource } from '../src/index.ts';
import { serveMedia } from './served-media.ts';

const EXAMPLE = pathOf(import.meta.dirname, '../examples/service-worker');
const media = await serveMedia();
/** The file that is served as `/video.mp4`. */
let video = '';
const browser = hasChromium ? closeAfterwards(await launchChromium()) : undefined;

beforeAll(async () => {
  const folder = await temporaryFolder();
  await promisify(execFile)(process.execPath, [pathOf(EXAMPLE, 'build.js'), folder]);
  const page = await readFile(pathOf(EXAMPLE, 'index.html'));
  const worker = await readFile(pathOf(folder, 'worker.js'));
  media.use((request, response, next) => {
    const { url } = request;
    if (url === '/video.mp4') request.url = `/${video}`;
    if (url === '/') response.setHeader('content-type', 'text/html').end(page);
    else if (url === '/worker.js') response.setHeader('content-type', 'text/javascript').end(worker);
    else next();
  });
});

/** What is used of a video element: the types of the DOM are not loaded here. */
interface Video {
  readonly duration: number;
  readonly videoWidth: number;
  readonly error: { readonly message: string } | null;
  muted: boolean;
  currentTime: number;
  play(): Promise<void>;
  addEventListener(name: string, listener: (value: unknown) => void, options: { once: true }): void;
}

async function openPage(served: string): Promise<Page> {
  video = served;
  if (!browser) throw new Error('No Chromium');
  const page = closeAfterwards(await browser.newPage());
  await page.goto(media.url);
  // The page adds it once the worker answers its requests.
  await page.locator('video').waitFor();
  return page;
}

describe.each(['video.mp4', 'fragments.mp4'])('the service worker of the example, of %s and sound', (served) => {
  it('serves two files as one, which a video element plays and seeks in', async () => {
    const page = await openPage(served);
    const played = await page.locator('video').evaluate(async (element) => {
      const video = element as unknown as Video;
      const after = (name: string) => new Promise((resolve) => video.addEventListener(name, resolve, { once: true }));
      if (Number.isNaN(video.duration)) await after('loadedmetadata');
      video.muted = true;
      video.currentTime = 10;
      await after('seeked');
      const from = video.currentTime;
      await video.play();
      await after('ended');
      return { from, duration: video.duration, width: video.videoWidth, error: video.error?.message };
    });
    expect(played).toEqual({ from: 10, duration: expect.closeTo(12, 1), width: 320, error: undefined });

    const files = media.requests.filter(({ path }) => /\.(?:mp4|m4a)$/.test(path));
    expect(new Set(files.map(({ path }) => path))).toEqual(new Set(['/video.mp4', '/audio.m4a']));
    expect(files.filter(({ range }) => range === undefined)).toEqual([]);
    const { size } = await urlSource(`${media.url}/video.mp4`);
    expect(files.filter(({ path, range }) => path === '/video.mp4' && range === `bytes=0-${size - 1}`)).toEqual([]);
  });

  it('answers a range with the bytes and headers of a server', async () => {
    const page = await openPage(served);
    const fetchOf = (path: string | URL | Request, init?: RequestInit) => fetch(new URL(String(path), media.url), init);
    const sources = ['/video.mp4', '/audio.m4a'].map((path) => urlSource(path, { fetch: fetchOf }));
    const file = await join(await Promise.all(sources));
    const [start, end] = [file.size - 70_000, file.size - 1000];
    const received = await page.evaluate(
      async (range) => {
        const response = await fetch('/joined.mp4', { headers: { range } });
        return {
          status: response.status,
          headers: Object.fromEntries(response.headers),
          bytes: [...new Uint8Array(await response.arrayBuffer())],
        };
      },
      `bytes=${start}-${end - 1}`,
    );
    expect(received).toMatchObject({
      status: 206,
      headers: {
        etag: file.etag,
        'content-type': 'video/mp4',
        'content-range': `bytes ${start}-${end - 1}/${file.size}`,
        'content-length': String(end - start),
      },
    });
    expect(Buffer.from(received.bytes).equals(await buffer(file.read(start, end)))).toBe(true);
  });
});
