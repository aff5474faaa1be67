import { buffer } from 'node:stream/consumers';
import { readHlsPlaylist, unpackHlsPlaylist } from '@reelay/seekable-media/hls';
import { expect, it } from 'vitest';
import type { KeyedRendition } from '../../../core/state/keys.ts';
import { openLive, planLive } from '../../../stream-service/outputs/live.ts';
import type { Opening } from '../../../stream-service/outputs/representation.ts';
import { resourceWith, trackAt } from '../source/upstream.ts';

const track = trackAt('https://source.test/a.m3u8', { delivery: 'hls', video: {} });
const found = {
  key: 'k',
  resource: resourceWith(track, { isLive: true }),
  tracks: [track],
} as unknown as KeyedRendition;
const opening = { session: { client: 'client', signal: new AbortController().signal } } as unknown as Opening;

/** What is shown of a list of the source. */
async function shownOf(lines: readonly string[]): Promise<string[]> {
  const list = unpackHlsPlaylist(readHlsPlaylist(['#EXTM3U', ...lines].join('\n'), 100), track.url);
  if (list.kind !== 'media') throw new Error('Unexpected master playlist');
  const held = { ...list, segments: [...list.segments] };
  const { read } = await openLive(planLive(found, 'both.m3u8'), opening, {
    listSegments: async () => held,
    inspectWindow: () => Promise.reject(new Error('Not of a window')),
  });
  return (await buffer(read(0))).toString().trim().split('\n').slice(2);
}

it('keeps the numbers of discontinuities and the target duration as segments leave the list', async () => {
  const head = ['#EXT-X-TARGETDURATION:8'];
  const ad = ['#EXT-X-DISCONTINUITY', '#EXTINF:2,', 'ad.ts'];
  const media = ['#EXT-X-DISCONTINUITY', '#EXTINF:2,', 'b.ts'];
  const shownAd = ['#EXT-X-DISCONTINUITY', '#EXTINF:2.000,', 'both-11.ts'];
  const shownMedia = ['#EXT-X-DISCONTINUITY', '#EXTINF:2.000,', 'both-12.ts'];
  const first = ['#EXT-X-MEDIA-SEQUENCE:10', '#EXTINF:8.000,', 'both-10.ts'];
  expect(await shownOf([...head, '#EXT-X-MEDIA-SEQUENCE:10', '#EXTINF:8,', 'a.ts', ...ad, ...media])).toEqual(
    [head, first, shownAd, shownMedia].flat(),
  );
  const second = '#EXT-X-MEDIA-SEQUENCE:11';
  expect(await shownOf([...head, second, ...ad, ...media])).toEqual([...head, second, ...shownAd, ...shownMedia]);
  const third = ['#EXT-X-MEDIA-SEQUENCE:12', '#EXT-X-DISCONTINUITY-SEQUENCE:1'];
  expect(await shownOf([...head, ...third, ...media])).toEqual([...head, ...third, ...shownMedia]);
});
