import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterEach, beforeAll, describe, expect } from 'vitest';
import { hasChromium, itInChromium as it } from '../../../support/chromium.ts';
import { startMedia } from './clip-fixture.ts';
import { type PairMedia, usePairMedia } from './pair-fixture.ts';
import { playerBrowser } from './player.ts';

let media: PairMedia;
let browser: Browser;
let page: Page;
beforeAll(async () => {
  if (!hasChromium) return;
  media = await usePairMedia();
  browser = await playerBrowser();
}, 60_000);
afterEach(() => page?.close());

/** Plays the video of the page for a moment at each position. Returns the duration and whether it played from there. */
const PLAY_AT = `async (positions) => {
  const video = document.querySelector('video');
  const next = (name) => new Promise((resolve, reject) => {
    video.addEventListener(name, resolve, { once: true });
    video.addEventListener('error', () => reject(new Error(video.error?.message)), { once: true });
  });
  if (video.readyState < 2) await next('loadeddata');
  const played = [];
  for (const position of positions) {
    if (position !== video.currentTime) {
      const seeked = next('seeked');
      video.currentTime = position;
      await seeked;
    }
    // Read before it plays: on a busy machine, events of playback arrive late.
    const start = video.currentTime;
    await video.play();
    while (video.currentTime < position + 0.2) await next('timeupdate');
    video.pause();
    played.push(Math.abs(start - position) < 1);
  }
  const { totalVideoFrames } = video.getVideoPlaybackQuality();
  return { duration: video.duration, played, hasFrames: totalVideoFrames > 0 };
}`;

describe('Chromium', () => {
  it.each([
    [['indexed.mp4', 'indexed.m4a'], 300],
    [['long-video.mp4', 'long-audio.m4a'], 300],
    [['bframes.mp4', 'short-indexed.m4a'], 8],
    [['muxed-indexed.mp4'], 300],
    [['ladder/both-360.mp4'], 8],
  ] as const)('plays and seeks the playlists of %j by hls.js', async (files, seconds) => {
    const started = await startMedia(media, files);
    page = await browser.newPage();
    const library = createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js');
    await page.setContent('<video muted></video>');
    await page.addScriptTag({ content: await readFile(library, 'utf8') });
    const failures = await page.evaluate(`new Promise((resolve) => {
      const errors = window.hlsErrors = [];
      const hls = new Hls({ enableWorker: false });
      hls.on(Hls.Events.ERROR, (_event, data) => {
        // A busy machine plays too slowly, and a seek gives up what it was loading: no faults of the playlists.
        const isOwn = /^buffer(Stalled|NudgeOnStall)/.test(data.details) || data.details === Hls.ErrorDetails.INTERNAL_ABORTED;
        if (!isOwn) errors.push(data.details);
        if (data.fatal) resolve(errors);
      });
      hls.on(Hls.Events.FRAG_BUFFERED, () => resolve(errors));
      hls.loadSource('${started.url.replace('/Media/', '/Hls/')}/master.m3u8');
      hls.attachMedia(document.querySelector('video'));
    })`);
    expect(failures).toEqual([]);
    const result = await page.evaluate<{ duration: number }>(`(${PLAY_AT})([0, ${seconds * 0.7}, ${seconds * 0.2}])`);
    expect(result).toMatchObject({ played: [true, true, true], hasFrames: true });
    expect(Math.abs(result.duration - seconds)).toBeLessThan(0.3);
    expect(await page.evaluate('window.hlsErrors')).toEqual([]);
  });
});
