import { describe, expect } from 'vitest';
import type { Playback } from '../../clients/reelay-client/src/api-types.ts';
import { SECONDS } from '../origin/recipes.ts';
import { playAndSeek, playerBrowser } from '../stream-service/outputs/layout/player.ts';
import { itInChromium as it } from '../support/chromium.ts';
import { renditionOf, sizedConversionOf } from './stream-helpers.ts';
import { useTarget } from './target.ts';

const target = useTarget();

/** The browser's `window`, as far as the tests read it: the DOM types are not loaded here. */
interface Page {
  readonly document: { createElement(tag: 'video'): { canPlayType(type: string): string } };
}

/** Plays a stream in a media element, seeks to `seekTo` and returns what the element reports. Seconds. */
async function play(tag: 'video' | 'audio', url: string, seekTo: number) {
  await using page = await (await playerBrowser()).newPage();
  // Within the site of the instance.
  await page.goto(`${target.baseUrl}/api/App`);
  // Without waiting for the load event: a stream may continue.
  await page.setContent(`<${tag} muted preload="auto" src="${url}"></${tag}>`, { waitUntil: 'commit' });
  const { duration, seeks } = await page.$eval(tag, playAndSeek, [seekTo]);
  const height = await page.$eval(tag, (element) => (element as { readonly videoHeight?: number }).videoHeight ?? 0);
  return { duration, at: seeks[0], height };
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
    const path = target.pathOf('Fetch/GetPlayback', '/site/open/browser-playback');
    const { video, audio, muxed } = await target.json<Playback>(path);
    await using page = await (await playerBrowser()).newPage();
    const playable = async (tracks: Playback['video']) => {
      const types = tracks.map(({ contentType }) => contentType);
      const answers = await page.evaluate(
        (all) => all.map((type) => (globalThis as never as Page).document.createElement('video').canPlayType(type)),
        types,
      );
      return tracks.filter((_, index) => answers[index] === 'probably');
    };
    const [picture, sound, both] = [await playable(video), await playable(audio), await playable(muxed)];
    expect([picture.length, sound.length, both.length]).toEqual([video.length, audio.length, muxed.length]);
    const pathOf = ([track]: Playback['video']) => target.baseUrl + track?.path;
    expect(await play('video', pathOf(picture), 6)).toMatchObject({ at: 6, height: 720 });
    expect(await play('audio', pathOf(sound), 6)).toMatchObject({ at: 6 });
    expect(await play('video', pathOf(both), 6)).toMatchObject({ at: 6, height: 720 });
  });
});
