import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { Playback } from '../../clients/reelay-client/src/api-types.ts';
import { SECONDS } from '../origin/recipes.ts';
import { hasChromium, itInChromium as it, launchChromium } from '../support/chromium.ts';
import { renditionOf, sizedConversionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';
import { ALLOWED_ORIGINS } from './target-settings.ts';

const target = useTarget();

// Types of the page, which exist in the browser only.
interface Page {
  readonly document: { createElement(tag: 'video'): { canPlayType(type: string): string } };
}
interface Media extends Record<'onseeked' | 'onerror' | 'onloadeddata', () => void> {
  readonly readyState: number;
  readonly duration: number;
  readonly videoHeight?: number;
  readonly error: { readonly message: string } | null;
  currentTime: number;
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
          const media = element as unknown as Media;
          const seek = () => {
            media.onseeked = () =>
              resolve({ duration: media.duration, at: media.currentTime, height: media.videoHeight ?? 0 });
            media.currentTime = place;
          };
          const fail = () => reject(new Error(media.error?.message));
          media.onerror = fail;
          media.onloadeddata = seek;
          if (media.error) fail();
          else if (media.readyState >= 2) seek();
        }),
      seekTo,
    );
  } finally {
    await page.close();
  }
}

describe('Chromium', () => {
  // Seeks in every kind of stream, in each player: test/stream-service/seeks.
  it.each([
    ['/files/clip-tail.mp4', 'video', 5, SECONDS.clip],
    ['/files/clip.webm', 'video', 5, SECONDS.clip],
    ['/files/long.mp4', 'audio', 270, SECONDS.long],
  ] as const)('seeks in %s as %s, whose duration it reads', async (link, tag, at, seconds) => {
    const { path } = await (tag === 'audio' ? sizedConversionOf(target, link) : renditionOf(target, link));
    const result = await play(tag, target.baseUrl + path, at);
    expect(result).toMatchObject({ at, height: tag === 'audio' ? 0 : 180 });
    expect(result.duration).toBeCloseTo(seconds, 0);
  });

  it('plays video and audio of GetPlayback side by side, chosen by canPlayType, or else a pair as one file', async () => {
    const link = encodeURIComponent(target.origin.url('/site/open/browser-playback'));
    const answer = await target.get(`/api/Fetch/GetPlayback?url=${link}`);
    const { video, audio, muxed } = JSON.parse(answer.body.toString()) as Playback;
    const page = await browser.newPage();
    const playable = async (tracks: Playback['video']) => {
      const types = tracks.map(({ contentType }) => contentType);
      const answers = await page.evaluate(
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
