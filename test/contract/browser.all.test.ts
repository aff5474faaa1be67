import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Playback } from '../../clients/reelay-client/src/api-types.ts';
import { SECONDS } from '../origin/recipes.ts';
import { hasChromium, itInChromium as it, launchChromium } from '../support/chromium.ts';
import { renditionOf, sizedConversionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';
import { ALLOWED_ORIGINS } from './target-settings.ts';

const target = useTarget();

interface Page {
  readonly document: { createElement(tag: 'video'): { canPlayType(type: string): string } };
}

let browser: Browser;
beforeAll(async () => {
  if (!hasChromium) return;
  // Local network access: the instance listens on loopback.
  browser = await launchChromium('LocalNetworkAccessChecks');
});
afterAll(() => browser?.close());

/** Plays a stream in a media element, seeks to `seekTo` and returns what the element reports. Seconds. */
async function play(tag: 'video' | 'audio', url: string, seekTo: number) {
  const page = await browser.newPage();
  try {
    // Within the site of the instance.
    await page.goto(`${target.baseUrl}/api/App`);
    // Without waiting for the load event: a stream may continue.
    await page.setContent(`<${tag} muted preload="auto" src="${url}"></${tag}>`, { waitUntil: 'commit' });
    return await page.$eval(
      tag,
      (element, place) =>
        new Promise<{ duration: number; at: number; height: number }>((resolve, reject) => {
          // A type of the page, which exists in the browser only.
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
  ])('seeks in %s', async (link, place, seconds, height) => {
    const { path } = await renditionOf(target, link);
    const result = await play('video', target.baseUrl + path, place);
    expect(result).toMatchObject({ at: place, height });
    expect(result.duration).toBeCloseTo(seconds, 0);
  });

  it('seeks to the end of an MP3 conversion', async () => {
    const { path } = await sizedConversionOf(target, '/files/long.mp4');
    const result = await play('audio', target.baseUrl + path, 270);
    expect(result.at).toBe(270);
    expect(result.duration).toBeCloseTo(SECONDS.long, 0);
  });

  it.each(['/site/open/browser', '/hls/master.m3u8', '/dash/timeline/manifest.mpd'])(
    'reads the duration of a stream that is muxed while sent: %s',
    async (link) => {
      const { path } = await renditionOf(target, link);
      const result = await play('video', target.baseUrl + path, 0.5);
      expect(result.duration).toBeCloseTo(SECONDS.ladder, 0);
      expect(result.height).toBe(720);
    },
  );

  it('plays video and audio of GetPlayback side by side, chosen by canPlayType, or else a pair as one file', async () => {
    const link = encodeURIComponent(target.origin.url('/site/open/browser-playback'));
    const answer = await target.get(`/api/Fetch/GetPlayback?url=${link}`);
    const { video, audio, muxed } = JSON.parse(answer.body.toString()) as Playback;
    const page = await browser.newPage();
    const playable = async (tracks: Playback['video']) => {
      const types = tracks.map(({ contentType }) => contentType);
      const answers = await page.evaluate(
        // A type of the page, which exists in the browser only.
        (all) => all.map((type) => (globalThis as never as Page).document.createElement('video').canPlayType(type)),
        types,
      );
      return tracks.filter((_, index) => answers[index] === 'probably');
    };
    const [picture, sound, both] = [await playable(video), await playable(audio), await playable(muxed)];
    await page.close();
    expect([picture.length, sound.length, both.length]).toEqual([video.length, audio.length, muxed.length]);
    const pathOf = ([track]: Playback['video']) => target.baseUrl + track?.path;
    expect(await play('video', pathOf(picture), 6)).toMatchObject({ at: 6, height: 720 });
    expect(await play('audio', pathOf(sound), 6)).toMatchObject({ at: 6 });
    expect(await play('video', pathOf(both), 6)).toMatchObject({ at: 6, height: 720 });
  });

  it('lets only pages of allowed origins read a response and its headers', async () => {
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
