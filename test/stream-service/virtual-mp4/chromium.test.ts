import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { hasChromium, itInChromium as it, launchChromium } from '../../support/chromium.ts';
import { audioTrack, combinedKey, resourceOf, type Service, startService, videoTrack } from '../fixture.ts';
import { createPairMedia, type PairMedia } from './pair-fixture.ts';

let media: PairMedia;
let browser: Browser;
let service: Service | undefined;
beforeAll(async () => {
  if (!hasChromium) return;
  media = await createPairMedia();
  browser = await launchChromium('--disable-features=LocalNetworkAccessChecks');
});
afterAll(async () => {
  await browser?.close();
  await media?.close();
});
afterEach(async () => {
  await service?.close();
});

/** The part of a media element that the test uses: the page's own type is known in the browser alone. */
interface MediaElement {
  readonly readyState: number;
  readonly duration: number;
  currentTime: number;
  readonly error: { message: string } | null;
  addEventListener(name: string, listener: () => void): void;
}

describe('a pair in Chromium', () => {
  it.each([
    ['indexed.mp4', 'indexed.m4a'],
    ['long-video.mp4', 'long-audio.m4a'],
    ['long-video.mp4', 'indexed.m4a'],
  ])('of %s and %s plays and seeks', async (video, audio) => {
    const sources = { video: await media.load(video), audio: await media.load(audio) };
    const resource = resourceOf([videoTrack(), audioTrack()], { durationSeconds: 300 });
    service = await startService(resource, sources);
    const page = await browser.newPage();
    const url = `${service.url}/api/Stream/Media/${combinedKey()}`;
    await page.setContent(`<video muted preload="metadata" src="${url}"></video>`, { waitUntil: 'commit' });
    const result = await page.$eval('video', async (element) => {
      const player = element as unknown as MediaElement;
      await new Promise<void>((resolve, reject) => {
        player.addEventListener('error', () => reject(new Error(player.error?.message)));
        if (player.readyState >= 1) resolve();
        else player.addEventListener('loadedmetadata', () => resolve());
      });
      const seek = (seconds: number) =>
        new Promise<number>((resolve, reject) => {
          player.addEventListener('seeked', () => resolve(player.currentTime));
          player.addEventListener('error', () => reject(new Error(player.error?.message)));
          player.currentTime = seconds;
        });
      return { duration: player.duration, far: await seek(270), near: await seek(30) };
    });
    await page.close();
    expect(result.duration).toBeCloseTo(300, 0);
    expect([result.far, result.near]).toEqual([270, 30]);
  });
});
