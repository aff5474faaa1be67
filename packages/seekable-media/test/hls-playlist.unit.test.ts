import { describe, expect, it } from 'vitest';
import { PlaylistError, readHlsPlaylist, unpackHlsPlaylist } from '../src/hls/index.ts';
import { findSegment, isSameMedia, longestGapSeconds, type Timeline } from '../src/timeline.ts';

const PLAYLIST_URL = 'https://cdn.example/a/index.m3u8?sig=1';
const read = (lines: readonly string[]) =>
  unpackHlsPlaylist(readHlsPlaylist(['#EXTM3U', ...lines].join('\n'), 100), PLAYLIST_URL);
const timelineOf = (lines: readonly string[]): Timeline => {
  const playlist = read(lines);
  if (playlist.kind !== 'media') throw new Error('Unexpected master playlist');
  return { ...playlist, segments: [...playlist.segments] };
};

describe('readHlsPlaylist', () => {
  it.each([
    ['s.ts', 'https://cdn.example/a/s.ts'],
    ['../s.ts?x=1', 'https://cdn.example/s.ts?x=1'],
    ['/s.ts', 'https://cdn.example/s.ts'],
    ['//b.example/s.ts', 'https://b.example/s.ts'],
    ['http://b.example/s.ts', 'http://b.example/s.ts'],
  ])('resolves %j against the URL of the playlist', (uri, url) =>
    expect(timelineOf(['#EXTINF:1,', uri]).segments[0]?.content.url).toBe(url),
  );

  it('numbers segments from the media sequence and reloads after the target duration', () => {
    const lines = ['#EXT-X-TARGETDURATION:7', '#EXT-X-MEDIA-SEQUENCE:41', '#EXTINF:1.5,', 'a', '#EXTINF:2,', 'b'];
    expect(timelineOf(lines)).toMatchObject({
      isComplete: false,
      reloadSeconds: 7,
      segments: [
        { sequence: 41, seconds: 1.5 },
        { sequence: 42, seconds: 2 },
      ],
    });
  });

  it('trims gaps at both ends of a recording and ignores the URIs of those in between', () => {
    const gap = ['#EXT-X-GAP', '#EXTINF:2,', 'http://['];
    const lines = [...gap, '#EXTINF:1,', 'a', ...gap, ...gap, '#EXTINF:1,', 'b', ...gap];
    const numbersOf = ({ segments }: Timeline) => segments.map(({ sequence, isGap }) => (isGap ? -sequence : sequence));
    expect(numbersOf(timelineOf([...lines, '#EXT-X-ENDLIST']))).toEqual([1, -2, -3, 4]);
    expect(numbersOf(timelineOf(lines))).toEqual([-0, 1, -2, -3, 4, -5]);
    expect(longestGapSeconds(timelineOf(lines).segments)).toBe(4);
    expect(timelineOf([...gap, '#EXT-X-ENDLIST']).segments).toEqual([]);
  });

  it('marks the segment after a discontinuity, also when a gap lies in between', () => {
    const lines = ['#EXTINF:1,', 'a', '#EXT-X-DISCONTINUITY', '#EXTINF:1,', 'b', '#EXTINF:1,', 'c'];
    const gap = ['#EXT-X-DISCONTINUITY', '#EXT-X-GAP', '#EXTINF:2,', 'x', '#EXTINF:1,', 'd'];
    const flags = timelineOf([...lines, ...gap]).segments.map(({ isDiscontinuity = false }) => isDiscontinuity);
    expect(flags).toEqual([false, true, false, false, true]);
  });

  it.each([
    [['#EXT-X-DISCONTINUITY-SEQUENCE:7'], 7],
    [['#EXT-X-DISCONTINUITY-SEQUENCE:x'], 0],
    [[], 0],
  ])('counts the discontinuities that have left the list of %j as %s', (lines, count) => {
    expect(timelineOf([...lines, '#EXTINF:1,', 'a']).discontinuitySequence).toBe(count);
  });

  it.each([
    [0, 0],
    [0.9, 0],
    [1, 0],
    [4.9, 0],
    [5, 3],
    [99, 3],
  ])('finds the segment at %d s, or the one before the gap', (seconds, index) => {
    const gap = ['#EXT-X-GAP', '#EXTINF:2,', 'x'];
    const { segments } = timelineOf(['#EXTINF:1,', 'a', ...gap, ...gap, '#EXTINF:1,', 'b', '#EXT-X-ENDLIST']);
    expect(findSegment(segments, seconds)).toBe(index);
  });

  it.each([
    ['IV=0x7', '7'],
    ['IV=0X7,KEYFORMAT="identity"', '7'],
    ['IV="0x0102030405060708090a0b0c0d0e0f"', '102030405060708090a0b0c0d0e0f'],
    [`IV=0x${'f'.repeat(32)}`, 'f'.repeat(32)],
  ])('reads the initialization vector %s', (written, digits) => {
    const lines = [`#EXT-X-KEY:METHOD=AES-128,URI="k",${written}`, '#EXTINF:1,', 'a'];
    const { cipher } = timelineOf(lines).segments[0]?.content ?? {};
    expect(cipher?.iv.toString('hex')).toBe(digits.padStart(32, '0'));
    expect(cipher?.keyUrl).toBe('https://cdn.example/a/k');
  });

  it.each<[string, string[]]>([
    ...['', '0x', '0xg', `0x${'1'.repeat(33)}`].map((written): [string, string[]] => [
      `IV=${written}`,
      [`#EXT-X-KEY:METHOD=AES-128,URI="k",IV=${written}`, '#EXTINF:1,', 'a'],
    ]),
    ['an invalid variant URI', ['#EXT-X-STREAM-INF:BANDWIDTH=1', 'http://[']],
  ])('throws PlaylistError for %s', (_, lines) =>
    expect(() => read([...lines, '#EXT-X-ENDLIST'])).toThrow(PlaylistError),
  );

  it.each(['', 'EXTM3U', '<html>#EXTM3U', '\u0000'])('throws PlaylistError for %j, which is not a playlist', (text) => {
    expect(() => readHlsPlaylist(text, 1)).toThrow(PlaylistError);
  });
});

describe('isSameMedia', () => {
  const vod = (...seconds: number[]) =>
    timelineOf([...seconds.flatMap((s) => [`#EXTINF:${s},`, 'a']), '#EXT-X-ENDLIST']);
  const named = (...uris: string[]) => timelineOf([...uris.flatMap((uri) => ['#EXTINF:1,', uri]), '#EXT-X-ENDLIST']);
  it.each([
    [vod(1, 2), vod(1, 2), true],
    [vod(1, 2), vod(1.05, 2), true],
    [vod(1, 2), vod(1), false],
    [vod(1, 2), vod(1, 3), false],
    [vod(1), timelineOf(['#EXTINF:1,', 'a']), false],
    [named('1.ts?a', '2.ts'), named('../b/1.ts', 'https://c.example/2.ts'), true],
    [named('1.ts', '2.ts'), named('a.ts', 'b.ts'), true],
    [named('1.ts', '2.ts', '3.ts'), named('2.ts', '3.ts', '4.ts'), false],
    [vod(1), timelineOf(['#EXTINF:1,', '#EXT-X-BYTERANGE:9@0', 'a', '#EXT-X-ENDLIST']), false],
    [vod(1), timelineOf(['#EXT-X-GAP', '#EXTINF:1,', 'a', '#EXT-X-ENDLIST']), false],
    [vod(1), timelineOf(['#EXT-X-MAP:URI="b"', '#EXTINF:1,', 'a', '#EXT-X-ENDLIST']), false],
    [timelineOf(['#EXTINF:1,', 'a']), vod(1, 2), true],
  ])('compares what complete lists say (case %#)', (before, after, same) =>
    expect(isSameMedia(before, after)).toBe(same),
  );
});
