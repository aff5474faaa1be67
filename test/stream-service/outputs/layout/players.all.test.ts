import { createRequire } from 'node:module';
import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { hasChromium, itInChromium } from '../../../support/chromium.ts';
import { hasFirefox, itInFirefox, launchFirefox } from '../../../support/firefox.ts';
import { type Files, startMedia } from './clip-fixture.ts';
import { type PairMedia, usePairMedia } from './pair-fixture.ts';
import { playAndSeek, playerBrowser, playUrl } from './player.ts';

let media: PairMedia;
let firefox: Browser;
beforeAll(async () => {
  if (hasChromium || hasFirefox) media = await usePairMedia();
  if (hasFirefox) firefox = await launchFirefox();
}, 60_000);
afterAll(() => firefox?.close());

/** Each five minutes long: both fragmented, both progressive, one of each. */
const PAIRS: readonly [Files][] = [
  [['indexed.mp4', 'indexed.m4a']],
  [['long-video.mp4', 'long-audio.m4a']],
  [['long-video.mp4', 'indexed.m4a']],
];

describe('Chromium', () => {
  itInChromium.each(PAIRS)('plays and seeks the pair of %j', async (files) => {
    const { duration, seeks } = await playUrl((await startMedia(media, files)).url, [270, 30]);
    expect([Math.round(duration), seeks]).toEqual([300, [270, 30]]);
  });

  itInChromium.each<[Files, number, number]>([
    [['indexed.mp4', 'indexed.m4a'], 100.25, 130],
    [['bframes.mp4', 'ladder/aac-128.m4a'], 2.4, 7],
    [['ladder/both-360.mp4'], 1.7, 5],
  ])('plays the clip of %j from %d to %d, with its duration', async (files, from, to) => {
    const { url } = await startMedia(media, files);
    const { duration, seeks } = await playUrl(`${url}?start=${from}&end=${to}`, [1]);
    expect([Math.abs(duration - (to - from)) < 0.15, seeks]).toEqual([true, [1]]);
  });

  itInChromium.each<[Files, number]>([
    [['indexed.mp4', 'indexed.m4a'], 300],
    [['long-video.mp4', 'long-audio.m4a'], 300],
    [['bframes.mp4', 'short-indexed.m4a'], 8],
    [['muxed-indexed.mp4'], 300],
    [['ladder/both-360.mp4'], 8],
  ])('plays and seeks the playlists of %j by hls.js', async (files, seconds) => {
    const { url } = await startMedia(media, files, { corsAllowedOrigins: ['*'] });
    await using page = await (await playerBrowser()).newPage();
    await page.setContent('<video muted></video>');
    await page.addScriptTag({ path: createRequire(import.meta.url).resolve('hls.js/dist/hls.min.js') });
    // Stalls are those of a busy machine.
    await page.evaluate(`
      const errors = [];
      const hls = new Hls({ enableWorker: false });
      hls.on(Hls.Events.ERROR, (_, { details }) => /^buffer(Stalled|NudgeOnStall)/.test(details) || errors.push(details));
      hls.loadSource('${url.replace('/Media/', '/Hls/')}/master.m3u8');
      hls.attachMedia(document.querySelector('video'));`);
    const { duration, seeks } = await page.$eval('video', playAndSeek, [seconds * 0.7, seconds * 0.2]);
    expect(Math.abs(duration - seconds)).toBeLessThan(0.3);
    expect(seeks).toEqual([seconds * 0.7, seconds * 0.2]);
    const frames = "document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames";
    expect(await page.evaluate(`[errors, ${frames} > 0]`)).toEqual([[], true]);
  });
});

describe('Firefox', () => {
  itInFirefox.each(PAIRS)('plays and seeks the pair of %j', async (files) => {
    const { url } = await startMedia(media, files);
    const page = await firefox.newPage();
    await page.setContent(`<video muted preload="metadata" src="${url}"></video>`);
    const { duration, seeks } = await page.$eval('video', playAndSeek, [270, 30]);
    await page.close();
    expect([Math.round(duration), seeks.map(Math.round)]).toEqual([300, [270, 30]]);
  });
});
