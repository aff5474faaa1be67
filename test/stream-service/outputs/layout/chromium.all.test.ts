import { describe, expect } from 'vitest';
import { hasChromium, itInChromium as it } from '../../../support/chromium.ts';
import { PAIRS_TO_PLAY, usePairService } from './pair-service.ts';
import { playUrl } from './player.ts';

const pairs = usePairService(hasChromium);

describe('a pair in Chromium', () => {
  it.each(PAIRS_TO_PLAY)('of %s and %s plays and seeks', async (video, audio) => {
    const url = await pairs.start(video, audio);
    const { duration, seeks } = await playUrl(url, [270, 30]);
    expect(duration).toBeCloseTo(300, 0);
    expect(seeks).toEqual([270, 30]);
  });
});
