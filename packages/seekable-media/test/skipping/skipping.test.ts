import { describe, expect, it } from 'vitest';
import type { TrackHeader } from '../../src/isobmff/index.ts';
import { findVideoWindows } from '../../src/mp4-clip/clip-window.ts';
import { markSegments } from '../../src/parts/chapters.ts';
import {
  endOrInfinity,
  InvalidSegments,
  keptParts,
  mergeSpans,
  parseSegments,
  selectSegments,
} from '../../src/parts/skipping.ts';
import { clipText } from '../../src/text/text-track.ts';

const span = (startSeconds: number, endSeconds: number) => ({ startSeconds, endSeconds });
const spans = (...pairs: readonly (readonly [number, number])[]) => pairs.map(([from, to]) => span(from, to));
const END = Number.POSITIVE_INFINITY;
const WHOLE = span(0, END);
const write = (list: readonly { readonly startSeconds: number; readonly endSeconds: number }[]) =>
  list.map(({ startSeconds, endSeconds }) => `${startSeconds}-${endSeconds}`).join(' ');

it.each([
  [WHOLE, undefined, '0-Infinity'],
  [WHOLE, spans([5, 9], [20, 30]), '0-5 9-20 30-Infinity'],
  [WHOLE, spans([0, 9]), '9-Infinity'],
  [WHOLE, spans([0.05, 3], [3.05, 8]), '8-Infinity'],
  [WHOLE, spans([5, END]), '0-5'],
  [span(7, 25), spans([0, 5], [6, 8], [20, 30]), '8-20'],
  [span(0, 4), spans([0, 9]), ''],
])('of %j without %j, keptParts keeps %s', (times, skipped, kept) =>
  expect(write(keptParts({ ...times, skipped }))).toBe(kept),
);

it.each([
  [58.9, 60, 58.9],
  [59.1, 60, END],
  [61, 60, END],
  [1e6, undefined, 1e6],
])('what ends at %d of %d ends at %d', (end, duration, expected) =>
  expect(endOrInfinity(end, duration)).toBe(expected),
);

it('mergeSpans joins those that overlap or touch, in order', () =>
  expect(mergeSpans(spans([20, 30], [1, 5], [2, 3], [5, 6], [25, 31]))).toEqual(spans([1, 6], [20, 31])));

describe('parseSegments', () => {
  const segment = {
    segment: [1, 2.5],
    UUID: 'a',
    category: 'sponsor',
    videoDuration: 90.2,
    locked: 0,
    votes: 1,
    actionType: 'skip',
  };
  const answer = (...segments: unknown[]) =>
    Buffer.from(
      JSON.stringify([
        { videoID: 'another', segments: [segment, segment] },
        { videoID: 'wanted', segments },
      ]),
    );

  it('reads the segments of one video, without other categories, actions and empty ones', () => {
    const others = [
      { ...segment, category: 'exclusive_access' },
      { ...segment, actionType: 'mute' },
      { ...segment, segment: [3, 3] },
    ];
    const unknown = { ...segment, segment: [7, 8], videoDuration: 0, category: 'intro' };
    expect(parseSegments(answer(segment, ...others, unknown), 'wanted')).toEqual([
      { ...span(1, 2.5), category: 'sponsor', videoSeconds: 90.2 },
      { ...span(7, 8), category: 'intro' },
    ]);
    expect(parseSegments(Buffer.from('[]'), 'wanted')).toEqual([]);
    expect(parseSegments(answer(...Array(500).fill(segment)), 'wanted')).toHaveLength(200);
  });

  it.each([
    '',
    '{}',
    '[null]',
    '[{"segments":[]}]',
    '[{"videoID":"wanted"}]',
    ...[
      '{}',
      '{"segment":[1]}',
      '{"segment":[1,2,3]}',
      '{"segment":[1,"2"]}',
      '{"segment":[-1,2]}',
      '{"segment":[1,1e9]}',
    ].map((text) => `[{"videoID":"wanted","segments":[${text}]}]`),
    '[{"videoID":"wanted","segments":[{"segment":[1,2],"videoDuration":"90"}]}]',
  ])('rejects %s', (text) => expect(() => parseSegments(Buffer.from(text), 'wanted')).toThrow(InvalidSegments));

  it('selectSegments leaves out segments of a version of another length', () => {
    const segments = parseSegments(answer(segment, { ...segment, videoDuration: 93 }), 'wanted');
    expect(selectSegments(segments, 90)).toHaveLength(1);
    expect(selectSegments(segments, undefined)).toHaveLength(2);
  });
});

it('markSegments continues a chapter behind a segment, and leaves the earlier of two that overlap whole', () => {
  const chapters = [
    { title: 'A', ...span(0, 10) },
    { title: 'B', ...span(10, END) },
  ];
  const segments = [
    { ...span(12, 15), category: 'intro' },
    { ...span(8, 13), category: 'sponsor' },
    { ...span(15.5, 20), category: 'hook' },
  ] as const;
  const marked = markSegments(chapters, segments).map(({ title, startSeconds, endSeconds }) => [
    title,
    startSeconds,
    endSeconds,
  ]);
  expect(marked).toEqual([
    ['A', 0, 8],
    ['Sponsor', 8, 13],
    ['Intro', 13, 15],
    ['Hook', 15.5, 20],
    ['B', 20, END],
  ]);
  expect(markSegments(chapters, [])).toEqual(chapters);
});

it('clipText moves cues to where their part is, and cuts those that reach into what is left out', () => {
  const cues = [
    { startMs: 1000, endMs: 6000, text: 'a' },
    { startMs: 7000, endMs: 8000, text: 'gone' },
    { startMs: 8500, endMs: 12_000, text: 'b' },
  ];
  expect(clipText({ cues, language: 'en' }, spans([0, 5], [9, END])).cues).toEqual([
    { startMs: 1000, endMs: 5000, text: 'a' },
    { startMs: 5000, endMs: 8000, text: 'b' },
  ]);
});

it('findVideoWindows reads the samples once for all parts', () => {
  const header = { timescale: 10, movieTimescale: 10, edits: [] } as unknown as TrackHeader;
  let read = 0;
  function* samples() {
    for (let at = 0; at < 1000; at += 1, read += 1)
      yield {
        decodeTime: at * 10,
        duration: 10,
        compositionOffset: 0,
        isSync: at % 10 === 0,
        offset: at,
        size: 1,
        description: 1,
      };
  }
  const parts = Array.from({ length: 50 }, (_, at) => span(20 * at + 13, 20 * at + 18));
  const windows = findVideoWindows({ header, source: 0, fileBytes: 1000, samples }, parts);
  expect(windows.map((window) => [window?.first, window?.last])).toEqual(
    parts.map((_, at) => [20 * at + 10, 20 * at + 17]),
  );
  expect(read).toBe(1000);
});
