import { packDashSegments } from '@reelay/seekable-media/dash';
import { type Segment, type Timeline, windowSegments } from '@reelay/seekable-media/timeline';
import { DASH, type ListKind } from '@reelay/source';
import { nameOf } from '@reelay/source/names';
import { describe, expect, it } from 'vitest';
import { createLiveLists, windowKind } from '../../../stream-service/source/live-lists.ts';
import { resourceWith, trackAt } from './upstream.ts';

const segment = (sequence: number): Segment => ({
  sequence,
  seconds: 2,
  content: { url: `https://source.test/${sequence}.ts` },
});
const listOf = (first: number, last: number): Timeline => ({
  segments: Array.from({ length: last - first + 1 }, (_, index) => segment(first + index)),
  isComplete: false,
  reloadSeconds: 2,
});
const NAME = nameOf([], 'a');
const numbersOf = (segments: readonly Segment[] = []) => segments.map(({ sequence }) => sequence);

describe('a live list', () => {
  it('is kept for its own duration after it has moved on, also where an edge lags behind', () => {
    const lists = createLiveLists();
    lists.add(NAME, listOf(10, 12));
    lists.add(NAME, listOf(12, 14));
    const { segments } = lists.add(NAME, listOf(11, 13));
    expect(numbersOf(segments)).toEqual([10, 11, 12, 13, 14]);
  });

  it('has no hole where an edge lags behind by more than the list', () => {
    const lists = createLiveLists();
    lists.add(NAME, listOf(10, 12));
    const { segments } = lists.add(NAME, listOf(5, 7));
    expect(windowSegments(segments, { first: 10, last: 12 })).toBeUndefined();
    expect(numbersOf(segments)).toEqual([5, 6, 7]);
  });
});

describe('a window', () => {
  const resource = resourceWith(trackAt('https://source.test/a.mpd', {}), { isLive: true });
  const trackOf = (first: number, last: number) => ({
    ...trackAt('https://source.test/a.mpd', {}),
    isLive: true,
    fragments: packDashSegments(listOf(first, last).segments.map(({ content, seconds }) => ({ ...content, seconds }))),
  });

  it('of DASH that has left its list does not change the numbers of what has come since', async () => {
    const lists = createLiveLists();
    const { signal } = new AbortController();
    const track = trackOf(3, 7);
    const load = (kind: ListKind, at: typeof track, previous?: Timeline) =>
      kind.load({ track, previous } as unknown as Parameters<ListKind['load']>[0], at, signal);
    const kind = windowKind(lists, { resource, first: 3, last: 5, list: NAME }, DASH);
    const opened = await load(kind, track);
    expect(numbersOf(opened.segments)).toEqual([3, 4, 5]);
    expect(numbersOf((await load(kind, trackOf(8, 12), opened)).segments)).toEqual([3, 4, 5]);
    const later = await load(windowKind(lists, { resource, first: 9, last: 10, list: NAME }, DASH), trackOf(8, 12));
    expect(later.segments.map(({ content }) => content.url)).toEqual([9, 10].map((each) => segment(each).content.url));
  });
});
