import { describe, expect, it } from 'vitest';
import { markSegments } from '../../../../core/media/chapters/mark-segments.ts';
import { keptParts } from '../../../../core/media/skipping/kept-parts.ts';
import {
  InvalidSegments,
  mergeSpans,
  parseSegments,
  selectSegments,
} from '../../../../core/media/skipping/segments.ts';
import { clipText } from '../../../../core/media/timed-text/text-track.ts';

const span = (startSeconds: number, endSeconds: number) => ({ startSeconds, endSeconds });
const spans = (...pairs: readonly (readonly [number, number])[]) => pairs.map(([from, to]) => span(from, to));
const END = Number.POSITIVE_INFINITY;

it.each([
  [0, END, undefined, [[0, END]]],
  [
    0,
    END,
    [
      [5, 9],
      [20, 30],
    ],
    [
      [0, 5],
      [9, 20],
      [30, END],
    ],
  ],
  [0, END, [[0, 9]], [[9, END]]],
  [
    7,
    25,
    [
      [0, 5],
      [6, 8],
      [20, 30],
    ],
    [[8, 20]],
  ],
  [0, 4, [[0, 9]], []],
  [
    0,
    END,
    [
      [0.05, 3],
      [3.05, 8],
    ],
    [[8, END]],
  ],
] as const)('of %d to %d without %j, keptParts keeps %j', (from, to, skipped, kept) =>
  expect(keptParts({ ...span(from, to), skipped: skipped && spans(...skipped) })).toEqual(spans(...kept)),
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

  it('selectSegments leaves out other categories, and segments of a version of another length', () => {
    const segments = parseSegments(answer(segment, { ...segment, videoDuration: 93 }), 'wanted');
    expect(selectSegments(segments, ['sponsor'], 90)).toHaveLength(1);
    expect(selectSegments(segments, ['intro'], 90)).toHaveLength(0);
    expect(selectSegments(segments, ['sponsor'], undefined)).toHaveLength(2);
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
