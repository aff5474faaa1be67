import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { hasChromium, itInChromium as it, launchChromium } from '../../support/chromium.ts';
import { PAIRS_TO_PLAY, usePairService } from './pair-service.ts';
import { playAndSeek } from './player.ts';

const pairs = usePairService(hasChromium);
let browser: Browser;
beforeAll(async () => {
  if (hasChromium) browser = await launchChromium('LocalNetworkAccessChecks');
});
afterAll(() => browser?.close());

describe('a pair in Chromium', () => {
  it.each(PAIRS_TO_PLAY)('of %s and %s plays and seeks', async (video, audio) => {
    const url = await pairs.start(video, audio);
    const page = await browser.newPage();
    await page.setContent(`<video muted preload="metadata" src="${url}"></video>`, { waitUntil: 'commit' });
    const { duration, seeks } = await page.$eval('video', playAndSeek, [270, 30]);
    await page.close();
    expect(duration).toBeCloseTo(300, 0);
    expect(seeks).toEqual([270, 30]);
  });
});
