import { expect, it } from 'vitest';
import {
  box,
  indexContent,
  parseTrackHeader,
  type TrackHeader,
  UnsupportedMp4,
  u32,
  writeFragment,
  writeFragmentedMovie,
} from '../src/isobmff/index.ts';
import { createTable, layOutFile, presentationOf } from '../src/segment-file/index.ts';
import { planPlaces } from '../src/virtual-mp4/place-plan.ts';
import { type PlaceSource, readPlaceSource } from '../src/virtual-mp4/place-source.ts';

const PICTURE_SECONDS = 1 / 25;
/** `starts_with_SAP` with `SAP_type` 1 and 2. */
const CLOSED = 0x9000_0000;
const OPEN = 0xa000_0000;

/** The header of a fragmented file with one track of video. */
function headerOf(timescale: number, edits: TrackHeader['edits'] = []): Buffer {
  const sampleEntry = box('avc1', u32(timescale));
  const encoding = {
    state: Buffer.alloc(0),
    tracks: [
      { kind: 'vide' as const, timescale, sampleEntry, presentation: presentationOf({ width: 64, height: 48 }) },
    ],
  };
  const times = { startTime: 0, earliestTime: 0, startsWithSync: true, placeBytes: 100 };
  const facts = { encoding, mainKind: 'vide' as const, ...times };
  const segment = { facts, segmentBytes: 100, seconds: 1, gapSeconds: 0, isDiscontinuity: false };
  const { header: bytes } = layOutFile(createTable('mp4', [segment]), 0);
  const header = parseTrackHeader(indexContent(bytes, 'file').require('moov'), 'vide');
  return writeFragmentedMovie([{ header: { ...header, edits }, durationSeconds: 4 }]).subarray(8);
}

/** Two fragments of two seconds. */
function sourceOf(source: number, timescale: number, accessPoint: number): PlaceSource {
  const fragments = [0, 2].map((seconds) => ({
    offset: seconds * 1000,
    bytes: 2000,
    time: seconds * timescale,
    duration: 2 * timescale,
    accessPoint,
    placeBytes: 2000,
  }));
  const header = parseTrackHeader(indexContent(headerOf(timescale), 'moov'), 'vide');
  return { source, header, hiddenSeconds: 0, sampleSeconds: PICTURE_SECONDS, fragments };
}

it('places begin at the decode times of the video', () => {
  const { timescale, places } = planPlaces([sourceOf(0, 12_800, CLOSED), sourceOf(1, 48_000, CLOSED)]);
  expect(timescale).toBe(192_000);
  expect(places.map(({ time, duration }) => [time, duration])).toEqual([
    [0, 384_000],
    [384_000, 384_000],
  ]);
});

it('places of open groups are announced three pictures earlier', () => {
  const { timescale, places, tracks } = planPlaces([sourceOf(0, 12_800, OPEN), sourceOf(1, 48_000, CLOSED)]);
  const earlier = 3 * PICTURE_SECONDS * timescale;
  expect(places.map(({ time, duration }) => [time, duration])).toEqual([
    [0, 384_000 - earlier],
    [384_000 - earlier, 384_000],
  ]);
  // The audio is cut where the second place is announced.
  expect(tracks[1]?.pieces[0]?.[0]?.until).toBe((2 - 3 * PICTURE_SECONDS) * 48_000);
});

it('tracks without a common time scale are refused', () => {
  const sources = [sourceOf(0, 10_000_019, CLOSED), sourceOf(1, 48_000, CLOSED)] as const;
  expect(() => planPlaces(sources)).toThrow('No common time scale');
});

it('several edits are refused', () => {
  const edit = { duration: 2000, mediaTime: 0n, rate: 0x1_0000 };
  const sample = { samples: [51_200, 100], hasFlags: false, hasCompositionOffsets: false };
  const moof = writeFragment({ trackId: 1, startTime: 0, sampleDescription: 1, ...sample });
  const entries = [{ offset: 0, bytes: moof.length + 108, duration: 51_200, accessPoint: CLOSED }];
  const fragments = { timescale: 12_800, startTime: 0, entries, firstMoof: { bytes: moof, offset: 0 } };
  const read = (edits: TrackHeader['edits']) =>
    readPlaceSource({ movie: indexContent(headerOf(12_800, edits), 'moov'), fileBytes: 10_000, fragments }, 0, 'vide');
  expect(read([{ ...edit, mediaTime: 1280n }]).hiddenSeconds).toBe(0.1);
  expect(() => read([edit, { ...edit, mediaTime: 25_600n }])).toThrow(UnsupportedMp4);
});
