import { describe, expect, it } from 'vitest';
import { readDashManifest, readHlsPlaylist } from '../../../core/media/manifests/manifest-facts.ts';

/** As much as is read of one. */
const MOST = 4 * 1024 * 1024;
const fill = (piece: string) => piece.repeat(MOST / piece.length);

describe('a manifest of 4 MiB holds nobody up', () => {
  const milliseconds = (read: () => unknown) => {
    const started = performance.now();
    read();
    return performance.now() - started;
  };

  it.each([
    ['roots without an end', fill('<MPD ')],
    ['a root without an end', `<MPD ${fill('a')}`],
    ['durations without one', `<MPD ${fill('mediaPresentationDuration ')}>`],
  ])('DASH of %s', (_, text) => expect(milliseconds(() => readDashManifest(text))).toBeLessThan(1000));

  it.each([
    ['lines of nothing', `#EXTM3U\n${fill('\n')}a`],
    ['lines of a letter', `#EXTM3U\n${fill('a\n')}`],
    ['one long line', `#EXTM3U\na\n#EXT-X-KEY:${fill('URI="')}`],
    ['figures of spaces', `#EXTM3U\na\n#EXT-X-ENDLIST\n${fill('#EXTINF:   \n')}`],
  ])('HLS of %s', (_, text) => expect(milliseconds(() => readHlsPlaylist(text))).toBeLessThan(1500));
});

describe('a manifest gives no duration beyond four months', () => {
  it.each(['9999999999999', '9'.repeat(400), '1.2.3'])('HLS that says %s', (seconds) =>
    expect(readHlsPlaylist(`#EXTM3U\n#EXTINF:${seconds},\na\n#EXT-X-ENDLIST`)).toEqual({ segment: 'a' }),
  );

  it('DASH', () => expect(readDashManifest(`<MPD mediaPresentationDuration="P${'9'.repeat(40)}D">`)).toEqual({}));

  it('HLS in sum', () =>
    expect(readHlsPlaylist(`#EXTM3U\n${'#EXTINF:6000000,\na\n'.repeat(2)}#EXT-X-ENDLIST`)).toEqual({ segment: 'a' }));
});
