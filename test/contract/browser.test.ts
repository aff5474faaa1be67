import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { SECONDS } from '../origin/recipes.ts';
import { hasChromium, itInChromium as it, launchChromium } from '../support/chromium.ts';
import { conversionOf, renditionOf } from './stream-helpers.ts';
import { ALLOWED_ORIGINS, useTarget } from './target.ts';

const target = useTarget();

let browser: Browser;
beforeAll(async () => {
  if (!hasChromium) return;
  // A page of the internet may ask this machine, as the instance stands on loopback here.
  browser = await launchChromium('--disable-features=LocalNetworkAccessChecks');
});
afterAll(() => browser?.close());

/** Plays a stream in an element of a page, seeks to a place, and tells how that went. Seconds. */
async function play(tag: 'video' | 'audio', url: string, seekTo: number) {
  const page = await browser.newPage();
  try {
    // Not until it is loaded: a stream may go on.
    await page.setContent(`<${tag} muted preload="auto" src="${url}"></${tag}>`, { waitUntil: 'commit' });
    return await page.$eval(
      tag,
      (element, place) =>
        new Promise<{ duration: number; at: number; height: number }>((resolve, reject) => {
          // The page's own type, known in the browser alone.
          const media = element as unknown as {
            [key: string]: unknown;
            readyState: number;
            duration: number;
            currentTime: number;
            videoHeight?: number;
            error: { message: string } | null;
            addEventListener(name: string, listener: () => void): void;
          };
          const tell = () =>
            resolve({ duration: media.duration, at: media.currentTime, height: media.videoHeight ?? 0 });
          const seek = () => {
            media.addEventListener('seeked', tell);
            media.currentTime = place;
          };
          media.addEventListener('error', () => reject(new Error(media.error?.message)));
          if (media.error) reject(new Error(media.error.message));
          else if (media.readyState >= 2) seek();
          else media.addEventListener('loadeddata', seek);
        }),
      seekTo,
    );
  } finally {
    await page.close();
  }
}

describe('Chromium', () => {
  it.each([
    ['/files/long.mp4', 270, SECONDS.long, 90],
    ['/files/clip-tail.mp4', 5, SECONDS.clip, 180],
    ['/files/clip.webm', 5, SECONDS.clip, 180],
    ['/site/combined/browser', 7, SECONDS.ladder, 720],
  ])('seeks in the video %s', async (link, place, seconds, height) => {
    const { path } = await renditionOf(target, link);
    const result = await play('video', target.baseUrl + path, place);
    expect(result).toMatchObject({ at: place, height });
    expect(result.duration).toBeCloseTo(seconds, 0);
  });

  it('seeks far into the sound of a conversion', async () => {
    const { path } = await conversionOf(target, '/files/long.mp4');
    const result = await play('audio', target.baseUrl + path, 270);
    expect(result.at).toBe(270);
    expect(result.duration).toBeCloseTo(SECONDS.long, 0);
  });

  it.each(['/site/open/browser', '/hls/master.m3u8', '/dash/timeline/manifest.mpd'])(
    'knows how long a film is that is muxed while it is sent: %s',
    async (link) => {
      const { path } = await renditionOf(target, link);
      const result = await play('video', target.baseUrl + path, 0.5);
      expect(result.duration).toBeCloseTo(SECONDS.ladder, 0);
      expect(result.height).toBe(720);
    },
  );

  it('lets a page of an allowed origin read an answer and its headers, and no other page', async () => {
    const { path } = await renditionOf(target, '/files/clip.mp4');
    const page = await browser.newPage();
    await page.route(/\.example\//, (route) => route.fulfill({ contentType: 'text/html', body: '<title>app</title>' }));
    const read = (url: string) =>
      page.evaluate(async (address) => {
        try {
          const answer = await fetch(address, { headers: { range: 'bytes=0-9' } });
          const { byteLength } = await answer.arrayBuffer();
          return [answer.status, byteLength, answer.headers.get('content-range'), answer.headers.get('etag') !== null];
        } catch {
          return 'refused';
        }
      }, url);
    await page.goto(`${ALLOWED_ORIGINS[0]}/`);
    expect(await read(target.baseUrl + path)).toEqual([206, 10, expect.stringMatching(/^bytes 0-9\//), true]);
    await page.goto('https://evil.example/');
    expect(await read(target.baseUrl + path)).toBe('refused');
    await page.close();
  });
});
