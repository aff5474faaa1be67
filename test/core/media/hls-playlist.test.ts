import { describe, expect, it } from 'vitest';
import { PlaylistError, readPlaylist } from '../../../core/media/hls/hls-playlist.ts';
import { findSegment, isSameMedia, longestGap, type Timeline } from '../../../core/media/timeline/timeline.ts';
import { dashTimeline } from '../../../stream-service/source/segmented/dash-timeline.ts';

const URL_OF_IT = 'https://cdn.example/a/index.m3u8?sig=1';
const read = (lines: readonly string[]) => readPlaylist(['#EXTM3U', ...lines].join('\n'), URL_OF_IT, 100);
const timelineOf = (lines: readonly string[]): Timeline => {
  const playlist = read(lines);
  if (playlist.kind !== 'media') throw new Error('a master');
  return playlist.timeline;
};

describe('readPlaylist', () => {
  it.each([
    ['s.ts', 'https://cdn.example/a/s.ts'],
    ['../s.ts?x=1', 'https://cdn.example/s.ts?x=1'],
    ['/s.ts', 'https://cdn.example/s.ts'],
    ['//b.example/s.ts', 'https://b.example/s.ts'],
    ['http://b.example/s.ts', 'http://b.example/s.ts'],
  ])('finds %j', (uri, url) => expect(timelineOf(['#EXTINF:1,', uri]).segments[0]?.content.url).toBe(url));

  it('numbers segments from the media sequence, and takes the target duration as the time to look again', () => {
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

  it('reads runs of bytes', () => {
    const lines = ['#EXTINF:1,', '#EXT-X-BYTERANGE:10@5', 'a', '#EXTINF:1,', '#EXT-X-BYTERANGE:20', 'a'];
    expect(timelineOf(lines).segments.map(({ content }) => content.range)).toEqual([
      { first: 5, last: 14 },
      { first: 15, last: 34 },
    ]);
  });

  it('leaves out gaps at both ends of a recording, and knows those in between by no address', () => {
    const gap = ['#EXT-X-GAP', '#EXTINF:2,', 'http://['];
    const lines = [...gap, '#EXTINF:1,', 'a', ...gap, ...gap, '#EXTINF:1,', 'b', ...gap];
    const numbersOf = ({ segments }: Timeline) => segments.map(({ sequence, isGap }) => (isGap ? -sequence : sequence));
    expect(numbersOf(timelineOf([...lines, '#EXT-X-ENDLIST']))).toEqual([1, -2, -3, 4]);
    expect(numbersOf(timelineOf(lines))).toEqual([-0, 1, -2, -3, 4, -5]);
    expect(longestGap(timelineOf(lines).segments)).toBe(4);
    expect(timelineOf([...gap, '#EXT-X-ENDLIST']).segments).toEqual([]);
  });

  it('knows where clock and coding may begin anew, behind a gap too', () => {
    const lines = ['#EXTINF:1,', 'a', '#EXT-X-DISCONTINUITY', '#EXTINF:1,', 'b', '#EXTINF:1,', 'c'];
    const gap = ['#EXT-X-DISCONTINUITY', '#EXT-X-GAP', '#EXTINF:2,', 'x', '#EXTINF:1,', 'd'];
    const anew = timelineOf([...lines, ...gap]).segments.map(({ isAnew = false }) => isAnew);
    expect(anew).toEqual([false, true, false, false, true]);
  });

  it.each([
    [0, 0, 0],
    [0.9, 0, 0],
    [1, 0, 0],
    [4.9, 0, 0],
    [5, 3, 5],
    [99, 3, 5],
  ])('finds %d s, in a gap before it', (seconds, index, startSeconds) => {
    const gap = ['#EXT-X-GAP', '#EXTINF:2,', 'x'];
    const { segments } = timelineOf(['#EXTINF:1,', 'a', ...gap, ...gap, '#EXTINF:1,', 'b', '#EXT-X-ENDLIST']);
    expect(findSegment(segments, seconds)).toEqual({ index, startSeconds });
  });

  it('makes an initialization vector of the number of a segment that has none', () => {
    const lines = ['#EXT-X-MEDIA-SEQUENCE:258', '#EXT-X-KEY:METHOD=AES-128,URI="k"', '#EXTINF:1,', 'a'];
    const { cipher } = timelineOf(lines).segments[0]?.content ?? {};
    expect(cipher?.iv.toString('hex')).toBe(`${'0'.repeat(29)}102`);
    expect(cipher?.keyUrl).toBe('https://cdn.example/a/k');
  });

  it.each([
    ['IV=0x7', '7'],
    ['IV=0X7,KEYFORMAT="identity"', '7'],
    ['IV="0x0102030405060708090a0b0c0d0e0f"', '102030405060708090a0b0c0d0e0f'],
    [`IV=0x${'f'.repeat(32)}`, 'f'.repeat(32)],
  ])('reads %s', (written, digits) => {
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
    ['SAMPLE-AES', ['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="k"', '#EXTINF:1,', 'a']],
    [
      'FairPlay',
      ['#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://k",KEYFORMAT="com.apple.streamingkeydelivery"', '#EXTINF:1,', 'a'],
    ],
    [
      'an encrypted initialization without IV',
      ['#EXT-X-KEY:METHOD=AES-128,URI="k"', '#EXT-X-MAP:URI="i"', '#EXTINF:1,', 'a'],
    ],
    ['a name that is no URL', ['#EXTINF:1,', 'http://[']],
    ['a variant without a name', ['#EXT-X-STREAM-INF:BANDWIDTH=1', 'http://[']],
    ['too many segments', Array.from({ length: 101 }, () => ['#EXTINF:1,', 'a']).flat()],
  ])('refuses %s', (_, lines) => expect(() => read([...lines, '#EXT-X-ENDLIST'])).toThrow(PlaylistError));

  it.each(['', 'EXTM3U', '<html>#EXTM3U', '\u0000'])('does not take %j for a playlist', (text) => {
    expect(() => readPlaylist(text, URL_OF_IT, 1)).toThrow(PlaylistError);
  });
});

describe('isSameMedia', () => {
  const vod = (...seconds: number[]) =>
    timelineOf([...seconds.flatMap((s) => [`#EXTINF:${s},`, 'a']), '#EXT-X-ENDLIST']);
  it.each([
    [vod(1, 2), vod(1, 2), true],
    [vod(1, 2), vod(1.05, 2), true],
    [vod(1, 2), vod(1), false],
    [vod(1, 2), vod(1, 3), false],
    [vod(1), timelineOf(['#EXTINF:1,', 'a']), false],
    [timelineOf(['#EXTINF:1,', 'a']), vod(1, 2), true],
  ])('case %#', (before, after, same) => expect(isSameMedia(before, after)).toBe(same));
});

describe('dashTimeline', () => {
  const fragments = (query: string, from: number, to: number) => [
    { url: `https://cdn.example/init${query}`, seconds: 0 },
    ...Array.from({ length: to - from }, (_, n) => ({ url: `https://cdn.example/${from + n}${query}`, seconds: 2 })),
  ];
  const numbers = ({ segments }: Timeline) => segments.map(({ sequence }) => sequence);

  it('recognizes a live segment under a new signature', () => {
    const before = dashTimeline(fragments('?sig=1', 10, 14), true);
    expect(numbers(before)).toEqual([0, 1, 2, 3]);
    expect(numbers(dashTimeline(fragments('?sig=2', 12, 16), true, before))).toEqual([2, 3, 4, 5]);
    expect(numbers(dashTimeline(fragments('?sig=2', 20, 22), true, before))).toEqual([4, 5]);
  });

  it('begins anew with each further initialization', () => {
    const period = (name: string) => [
      { url: `https://cdn.example/${name}/init`, seconds: 0 },
      { url: `https://cdn.example/${name}/0`, seconds: 2 },
      { url: `https://cdn.example/${name}/1`, seconds: 2 },
    ];
    const { segments } = dashTimeline([...period('a'), ...period('b')], false);
    expect(segments.map(({ init, isAnew = false }) => [init?.url.slice(-6), isAnew])).toEqual([
      ['a/init', false],
      ['a/init', false],
      ['b/init', true],
      ['b/init', false],
    ]);
  });

  it('takes segments of which nobody knows how long they are for segments', () => {
    const { segments } = dashTimeline(
      ['init', '0', '1'].map((name) => ({ url: `https://cdn.example/${name}`, seconds: 0 })),
      false,
    );
    expect(segments).toHaveLength(2);
  });

  it('takes segments that initialize themselves as they are', () => {
    const { segments } = dashTimeline([{ url: 'https://cdn.example/1', seconds: 2 }], false);
    expect(segments).toMatchObject([{ sequence: 0, content: { url: 'https://cdn.example/1' } }]);
    expect(segments[0]?.init).toBeUndefined();
  });
});
