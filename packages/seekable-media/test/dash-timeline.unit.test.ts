import { describe, expect, it } from 'vitest';
import {
  type DashSegment,
  type DashTimelineOptions,
  dashTimeline,
  firstFragmentUrl,
  packDashSegments,
  unpackDashSegments,
} from '../src/dash.ts';
import type { Timeline } from '../src/timeline.ts';

/** The timeline with its segments read. */
const timelineOf = (fragments: readonly DashSegment[], options: DashTimelineOptions): Timeline => {
  const { segments, ...timeline } = dashTimeline(fragments, options);
  return { ...timeline, segments: [...segments] };
};
const numbers = ({ segments }: Timeline) => segments.map(({ sequence }) => sequence);
/** Fragments of these durations, named by their places. */
const lasting = (seconds: readonly number[]): readonly DashSegment[] =>
  seconds.map((each, index) => ({ url: `https://cdn.example/${index}`, seconds: each }));

describe('dashTimeline', () => {
  const fragments = (query: string, from: number, to: number) => [
    { url: `https://cdn.example/init${query}`, seconds: 0 },
    ...Array.from({ length: to - from }, (_, n) => ({ url: `https://cdn.example/${from + n}${query}`, seconds: 2 })),
  ];

  it('keeps the sequence number of a live segment whose URL has a new signature', () => {
    const before = timelineOf(fragments('?sig=1', 10, 14), { isLive: true });
    expect(numbers(before)).toEqual([10, 11, 12, 13]);
    expect(numbers(timelineOf(fragments('?sig=2', 12, 16), { isLive: true, previous: before }))).toEqual([
      12, 13, 14, 15,
    ]);
    expect(numbers(timelineOf(fragments('?sig=2', 20, 22), { isLive: true, previous: before }))).toEqual([14, 15]);
  });

  describe('of a live stream gives the segments the numbers that their names tell', () => {
    const listOf = (names: readonly (string | number)[]) =>
      names.map((name) => ({ url: `https://cdn.example/v1/${name}.m4s?sig=${name}`, seconds: 2 }));
    it.each<[string, readonly DashSegment[], readonly number[] | undefined]>([
      ['numbers', listOf([998, 999, 1000]), [998, 999, 1000]],
      ['padded numbers', listOf(['a-1_0098', 'a-1_0099', 'a-1_0100']), [98, 99, 100]],
      ['times', listOf([180_180, 360_360, 540_540]), undefined],
      ['no numbers', listOf(['a', 'b', 'c']), undefined],
      ['two numbers that change', listOf(['1-1', '2-2', '3-3']), undefined],
      ['the same number', listOf([1, 1, 1]), undefined],
      ['numbers that descend', listOf([3, 2, 1]), undefined],
      ['a gap', listOf([1, 2, 4, 5]), undefined],
      ['numbers beyond 2^53', listOf(['9'.repeat(30), `1${'0'.repeat(30)}`]), undefined],
      ['one segment', listOf([7]), undefined],
    ])('%s', (_, list, expected) => {
      const timeline = timelineOf(list, { isLive: true });
      expect(timeline.isUnnumbered ? undefined : numbers(timeline)).toEqual(expected);
    });
  });

  it('marks a discontinuity at each further initialization segment', () => {
    const period = (name: string) => [
      { url: `https://cdn.example/${name}/init`, seconds: 0 },
      { url: `https://cdn.example/${name}/0`, seconds: 2 },
      { url: `https://cdn.example/${name}/1`, seconds: 2 },
    ];
    const { segments } = timelineOf([...period('a'), ...period('b')], { isLive: false });
    expect(
      segments.map(({ init, ...more }) => [init?.url.slice(-6), more.isDiscontinuity, more.isTimedByList]),
    ).toEqual([
      ['a/init', false, false],
      ['a/init', false, false],
      ['b/init', true, true],
      ['b/init', false, false],
    ]);
  });

  it('resolves relative fragments against one base, which all of them share', () => {
    const base = `https://cdn.example/${'a'.repeat(8000)}/`;
    const list = Array.from({ length: 10_000 }, (_, n) => ({ url: `${n}.m4s?sig=${n}`, seconds: 2 }));
    const { segments } = timelineOf(list, { isLive: true, baseUrl: base });
    expect(segments[1]?.content.url).toBe(`${base}1.m4s?sig=1`);
    expect(segments.every(({ content }) => Object.values(content).every((part) => part !== content.url))).toBe(true);
    const moved = timelineOf(list.slice(2), {
      isLive: true,
      baseUrl: 'https://other.example/',
      previous: { segments, isComplete: false, reloadSeconds: 2 },
    });
    expect(moved.segments[0]?.sequence).toBe(2);
  });

  it.each([
    [[2, 3], 3],
    [[5, 3, 2], 2],
    [[0, 2], 2],
    [[2, 0], 6],
    [[], 6],
  ])('is reloaded after the duration of the last fragment of %j: %d s', (seconds, reloadSeconds) => {
    const list = lasting(seconds);
    expect(timelineOf(list, { isLive: true })).toMatchObject({ reloadSeconds, isComplete: false });
    expect(timelineOf(list, { isLive: false }).isComplete).toBe(true);
  });

  it.each<[string, readonly number[], readonly [media: string, init?: string][]]>([
    [
      'a last fragment without a duration is media',
      [0, 2, 0],
      [
        ['1', '0'],
        ['2', '0'],
      ],
    ],
    ['a single fragment without a duration is media', [0], [['0']]],
    [
      'without any duration, the first alone initializes',
      [0, 0, 0],
      [
        ['1', '0'],
        ['2', '0'],
      ],
    ],
    ['another one without a duration initializes what follows', [2, 0, 2], [['0'], ['2', '1']]],
  ])('%s', (_, seconds, expected) => {
    const { segments } = timelineOf(lasting(seconds), { isLive: false });
    const nameOf = (url: string | undefined) => url?.split('/').at(-1);
    expect(segments.map(({ content, init }) => [nameOf(content.url), nameOf(init?.url)].filter(Boolean))).toEqual(
      expected,
    );
    expect(segments.map(({ sequence }) => sequence)).toEqual(segments.map((_, index) => index));
    expect(segments[0]?.isDiscontinuity).toBe(false);
  });

  it.each([
    ['https://a.example/s/7.m4s?sig=1#x', 'https://b.example/s/7.m4s#y', true],
    ['https://a.example/s/7.m4s', 'cdn+2.x-y://b.example/s/7.m4s', true],
    ['HTTPS://a.example/s/7.m4s', '/s/7.m4s?sig=2', true],
    ['https://a.example/s/7.m4s', 'https://a.example/t/7.m4s', false],
    ['https://a.example/s/7.m4s', 'https://a.example/s/8.m4s', false],
    ['x/https://a.example/7.m4s', 'x/https://b.example/7.m4s', false],
  ])('takes %s and %s for one segment: %j', (before, after, isSame) => {
    const live = (urls: readonly string[], previous?: Timeline) =>
      timelineOf(
        urls.map((url) => ({ url, seconds: 2 })),
        { isLive: true, ...(previous && { previous }) },
      );
    const previous = live(['https://a.example/first', 'https://a.example/second', before]);
    expect(numbers(live(['https://a.example/new', after], previous))).toEqual(isSame ? [1, 2] : [3, 4]);
    expect(live([after], live([])).segments[0]?.sequence).toBe(0);
  });

  it.each([
    ['whose names differ by their queries alone', 'abcde', (name: string) => `https://a.example/media?part=${name}`],
    ['that are repeated', 'axbxc', (name: string, sig: string) => `https://a.example/${name}?sig=${sig}`],
  ])('numbers fragments %s', (_, names, urlOf) => {
    const live = (listed: string, previous?: Timeline) =>
      timelineOf(
        [...listed].map((name) => ({ url: urlOf(name, listed), seconds: 2 })),
        { isLive: true, ...(previous && { previous }) },
      );
    const later = live(`${names.slice(1)}f`, live(names));
    expect(numbers(later)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('packFragments', () => {
  it('keeps URLs and durations, which it counts', () => {
    const fragments = [0, 2, 2, 2.000001, 2, 2].map((seconds, index) => ({ url: `${index}.m4s`, seconds }));
    const packed = packDashSegments(fragments);
    expect(packed).toEqual({
      urls: '0.m4s\n1.m4s\n2.m4s\n3.m4s\n4.m4s\n5.m4s',
      durations: [1, 0, 2, 2_000_000, 1, 2_000_001, 2, 2_000_000],
    });
    expect([...unpackDashSegments(packed)]).toEqual(fragments);
    expect(firstFragmentUrl(packed)).toBe('0.m4s');
  });

  it('removes what would end a line', () =>
    expect(packDashSegments([{ url: 'a\n\t/b\rc', seconds: 1 }]).urls).toBe('a/bc'));
});
