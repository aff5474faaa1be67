import { describe, expect, it } from 'vitest';
import { type DashFragment, type DashTimelineOptions, dashTimeline } from '../../../core/media/dash/dash-timeline.ts';
import type { Timeline } from '../../../core/media/timeline/timeline.ts';

/** The timeline with its segments read. */
const timelineOf = (fragments: readonly DashFragment[], options: DashTimelineOptions): Timeline => {
  const { segments, ...timeline } = dashTimeline(fragments, options);
  return { ...timeline, segments: [...segments] };
};

describe('dashTimeline', () => {
  const fragments = (query: string, from: number, to: number) => [
    { url: `https://cdn.example/init${query}`, seconds: 0 },
    ...Array.from({ length: to - from }, (_, n) => ({ url: `https://cdn.example/${from + n}${query}`, seconds: 2 })),
  ];
  const numbers = ({ segments }: Timeline) => segments.map(({ sequence }) => sequence);

  it('keeps the sequence number of a live segment whose URL has a new signature', () => {
    const before = timelineOf(fragments('?sig=1', 10, 14), { isLive: true });
    expect(numbers(before)).toEqual([0, 1, 2, 3]);
    expect(numbers(timelineOf(fragments('?sig=2', 12, 16), { isLive: true, previous: before }))).toEqual([2, 3, 4, 5]);
    expect(numbers(timelineOf(fragments('?sig=2', 20, 22), { isLive: true, previous: before }))).toEqual([4, 5]);
  });

  it('marks a discontinuity at each further initialization segment', () => {
    const period = (name: string) => [
      { url: `https://cdn.example/${name}/init`, seconds: 0 },
      { url: `https://cdn.example/${name}/0`, seconds: 2 },
      { url: `https://cdn.example/${name}/1`, seconds: 2 },
    ];
    const { segments } = timelineOf([...period('a'), ...period('b')], { isLive: false });
    expect(segments.map(({ init, isDiscontinuity = false }) => [init?.url.slice(-6), isDiscontinuity])).toEqual([
      ['a/init', false],
      ['a/init', false],
      ['b/init', true],
      ['b/init', false],
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

  it('treats fragments without durations as media, except the first', () => {
    const { segments } = timelineOf(
      ['init', '0', '1'].map((name) => ({ url: `https://cdn.example/${name}`, seconds: 0 })),
      { isLive: false },
    );
    expect(segments).toHaveLength(2);
  });

  it('accepts self-initializing segments', () => {
    const { segments } = timelineOf([{ url: 'https://cdn.example/1', seconds: 2 }], { isLive: false });
    expect(segments).toMatchObject([{ sequence: 0, content: { url: 'https://cdn.example/1' } }]);
    expect(segments[0]?.init).toBeUndefined();
  });
});
