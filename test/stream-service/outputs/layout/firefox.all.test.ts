import type { Browser } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { hasFirefox, itInFirefox as it, launchFirefox } from '../../../support/firefox.ts';
import { PAIRS_TO_PLAY, usePairService } from './pair-service.ts';
import { playAndSeek } from './player.ts';

const pairs = usePairService(hasFirefox);
let browser: Browser;
beforeAll(async () => {
  if (hasFirefox) browser = await launchFirefox();
});
afterAll(() => browser?.close());

describe('a pair in Firefox', () => {
  it.each(PAIRS_TO_PLAY)('of %s and %s plays and seeks', async (video, audio) => {
    const url = await pairs.start(video, audio);
    const page = await browser.newPage();
    await page.setContent(`<video muted preload="metadata" src="${url}"></video>`);
    const { duration, seeks } = await page.$eval('video', playAndSeek, [270, 30]);
    await page.close();
    expect(duration).toBeCloseTo(300, 0);
    expect(seeks.map(Math.round)).toEqual([270, 30]);
  });
});
