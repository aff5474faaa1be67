import { expect, it } from 'vitest';
import {
  box,
  indexContent,
  moveRun,
  parseTrackHeader,
  type TrackHeader,
  UnsupportedMp4,
  u32,
  writeFileFragment,
  writeFragmentedMovie,
} from '../src/isobmff/index.ts';
import { createTable, presentationOf } from '../src/segment-file/index.ts';
import { planSubsegments } from '../src/virtual-mp4/subsegment-plan.ts';
import { readTrackFragments, type TrackFragments } from '../src/virtual-mp4/track-fragments.ts';

const PICTURE_SECONDS = 1 / 25;
/** `starts_with_SAP` with `SAP_type` 1, 2 and none, as FFmpeg writes. */
const CLOSED = 0x9000_0000;
const OPEN = 0xa000_0000;
const UNKNOWN = 0x8000_0000;

/** The header of a fragmented file with one track of video. */
function headerOf(timescale: number, edits: TrackHeader['edits'] = []): Buffer {
  const sampleEntry = box('avc1', u32(timescale));
  const encoding = {
    state: Buffer.alloc(0),
    tracks: [
      { kind: 'vide' as const, timescale, sampleEntry, presentation: presentationOf({ width: 64, height: 48 }) },
    ],
  };
  const times = { startTime: 0, earliestTime: 0, startsWithSync: true, maxBytes: 100 };
  const facts = { encoding, mainKind: 'vide' as const, ...times };
  const segment = { facts, segmentBytes: 100, seconds: 1, gapSeconds: 0, isDiscontinuity: false };
  const { header } = readTrackFragments({ table: createTable('mp4', [segment]) }, 0, 'vide');
  return writeFragmentedMovie([{ header: { ...header, edits }, durationSeconds: 4 }]).subarray(8);
}

/** What is read of a file whose one fragment has samples of these fields. */
function readFragment(samples: readonly number[], more: { accessPoint?: number; edits?: TrackHeader['edits'] } = {}) {
  const { accessPoint = CLOSED, edits } = more;
  const moof = writeFileFragment({
    trackId: 1,
    startTime: 0,
    sampleDescription: 1,
    runs: [{ first: 8, bytes: 400, fields: [...samples] }],
    hasFlags: false,
    hasCompositionOffsets: true,
  });
  const duration = samples.reduce((sum, each, index) => sum + (index % 3 === 0 ? each : 0), 0);
  const entries = [{ offset: 0, bytes: moof.length + 408, duration, accessPoint }];
  const fragments = { timescale: 12_800, startTime: 0, entries, firstMoof: { bytes: moof, offset: 0 } };
  const movie = indexContent(headerOf(12_800, edits), 'moov');
  return { ...readTrackFragments({ movie, fileBytes: 10_000, fragments }, 0, 'vide'), bytes: moof.length + 408 };
}

/** Two fragments of two seconds. */
function sourceOf(source: number, timescale: number, leadSeconds = 0): TrackFragments {
  const fragments = [0, 2].map((seconds) => ({
    offset: seconds * 1000,
    bytes: 2000,
    time: seconds * timescale,
    duration: 2 * timescale,
    accessPoint: CLOSED,
    maxBytes: 2000,
  }));
  const header = parseTrackHeader(indexContent(headerOf(timescale), 'moov'), 'vide');
  return { source, header, hiddenSeconds: 0, leadSeconds, fragments };
}

it('subsegments begin at the decode times of the video', () => {
  const { timescale, subsegments } = planSubsegments([sourceOf(0, 12_800), sourceOf(1, 48_000)]);
  expect(timescale).toBe(192_000);
  expect(subsegments.map(({ time, duration }) => [time, duration])).toEqual([
    [0, 384_000],
    [384_000, 384_000],
  ]);
});

it('subsegments that may begin with an open group begin earlier, except for the first one', () => {
  const { timescale, subsegments, tracks } = planSubsegments([
    sourceOf(0, 12_800, PICTURE_SECONDS),
    sourceOf(1, 48_000),
  ]);
  const earlier = PICTURE_SECONDS * timescale;
  expect(subsegments.map(({ time, duration }) => [time, duration])).toEqual([
    [0, 384_000 - earlier],
    [384_000 - earlier, 384_000 + earlier],
  ]);
  // The audio is cut where the second subsegment begins.
  expect(tracks[1]?.pieces[0]?.[0]?.until).toBe((2 - PICTURE_SECONDS) * 48_000);
});

/** Composition offsets of four pictures in decode order, and how many of them more than the first one needs one is decoded before it is shown. */
const ORDERS = [
  ['pictures in order', UNKNOWN, [0, 0, 0, 0], 0],
  ['two pictures before a later one', UNKNOWN, [1, 3, 0, 0], 1],
  ['the same pictures in groups that the index says are open', OPEN, [1, 3, 0, 0], 1],
  ['the same pictures in groups that the index says are closed', CLOSED, [1, 3, 0, 0], 0],
] as const;

it.each(ORDERS)(
  'other fragments than the first one begin as much earlier as it needs: %s',
  (_, accessPoint, offsets, pictures) => {
    const duration = 512;
    const samples = offsets.flatMap((offset) => [duration, 100, offset * duration]);
    const { leadSeconds, fragments, bytes } = readFragment(samples, { accessPoint });
    // Two decode times that are moved differ by one unit.
    expect(leadSeconds).toBe(pictures === 0 ? 0 : (pictures * duration + 1) / 12_800);
    expect(fragments.map(({ maxBytes }) => maxBytes - bytes)).toEqual([pictures === 0 ? 0 : 4 * 4]);
  },
);

it('a run that is moved shows its samples when they were shown', () => {
  const samples = [5, 4, 0, 1].map((pictures) => ({
    duration: 100,
    compositionOffset: pictures * 100,
    size: 10,
    isSync: false,
  }));
  const run = { decodeTime: 1000, samples };
  const shown = (each: typeof run) => {
    let time = each.decodeTime;
    return each.samples.map(({ duration, compositionOffset }) => {
      time += duration;
      return time - duration + compositionOffset;
    });
  };
  expect(moveRun(run, { start: 1000, end: 1400, step: 1 })).toBe(run);
  for (const [start, end, decodeTime] of [
    [900, 1300, 900],
    [1150, 1450, 1150],
    // The third picture is shown at 1200.
    [1300, 1500, 1198],
  ] as const) {
    const moved = moveRun(run, { start, end, step: 1 });
    expect([moved.decodeTime, shown(moved)]).toEqual([decodeTime, shown(run)]);
    expect(moved.samples.every((each) => each.duration > 0 && each.compositionOffset >= 0)).toBe(true);
    expect(moved.samples.reduce((time, { duration }) => time + duration, moved.decodeTime)).toBe(end);
  }
});

it('tracks without a common time scale are refused', () => {
  const sources = [sourceOf(0, 10_000_019), sourceOf(1, 48_000)] as const;
  expect(() => planSubsegments(sources)).toThrow('No common time scale');
});

it('several edits are refused', () => {
  const edit = { duration: 2000, mediaTime: 0n, rate: 0x1_0000 };
  const read = (edits: TrackHeader['edits']) => readFragment([51_200, 100, 0], { edits });
  expect(read([{ ...edit, mediaTime: 1280n }]).hiddenSeconds).toBe(0.1);
  expect(() => read([edit, { ...edit, mediaTime: 25_600n }])).toThrow(UnsupportedMp4);
});
