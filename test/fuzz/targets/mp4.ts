import {
  fragmentTimes,
  hasEncryptedSampleEntry,
  indexMovie,
  measureFragment,
  parseInitTracks,
  parseRandomAccess,
  parseSegmentIndex,
  patchHeaderDuration,
  shiftFragment,
  UnsupportedMp4,
} from '@reelay/seekable-media/isobmff';
import { layOutClip, parseFileTracks, readFragmentSamples, readTableSamples } from '@reelay/seekable-media/mp4-clip';
import {
  createTable,
  createWebmTable,
  readSegmentSamples,
  recognizeFormat,
  segmentFormat,
  segmentRequest,
} from '@reelay/seekable-media/segment-file';
import { readWebmFile } from '@reelay/seekable-media/webm';
import { UpstreamError } from '../../../core/errors/index.ts';
import { createLayout } from '../../../packages/seekable-media/src/virtual-mp4/create-layout.ts';
import * as seeds from '../../../packages/seekable-media/test/seeds.ts';
import { cluster, webmFile } from '../../../packages/seekable-media/test/webm-fixture.ts';
import { createDiscontinuityFilter } from '../../../packages/source/src/segmented/discontinuity-filter.ts';
import { check, type FuzzTargets, LINEAR, MB } from './target.ts';

/** Passes bytes through the filter that joins segments, in chunks of one size. */
function filterSegments(input: Buffer, chunkBytes: number): Buffer {
  const filter = createDiscontinuityFilter();
  const init = filter.init();
  const output = [init.update(seeds.fragmentedMovie('vide')), init.final()];
  for (const startSeconds of [0, 100]) {
    const segment = filter.segment(startSeconds);
    for (let at = 0; at < input.length; at += chunkBytes) {
      output.push(segment.update(input.subarray(at, at + chunkBytes)));
    }
    output.push(segment.final());
  }
  return Buffer.concat(output);
}

const TRACKS = parseInitTracks(seeds.fragmentedMovie('vide'));

const WEBM = webmFile({});

/** @param moov a whole box */
const sourceOf = (moov: Buffer) => ({ movie: indexMovie(moov.subarray(8)), fileBytes: 1e6 });

/** MP4: headers, fragments, and the files that are laid out from them. */
export const mp4: FuzzTargets = {
  'init-segment': {
    run: (input) => void parseInitTracks(input),
    seeds: [seeds.movie('vide'), seeds.fragmentedMovie('soun')],
    maxBytes: 32 * MB,
    maxSteps: LINEAR,
  },
  'segment-index': {
    run: (input) => void (input.length >= 8 && parseSegmentIndex(input)),
    seeds: [seeds.SEGMENT_INDEX],
    maxSteps: LINEAR,
  },
  'random-access': {
    run: (input) => void parseRandomAccess(input, 1),
    seeds: [seeds.RANDOM_ACCESS],
    maxSteps: LINEAR,
  },
  'fragment-times': {
    run(input) {
      for (const { start, end } of fragmentTimes(input, TRACKS))
        check(end >= start, 'A fragment ends before its start');
      shiftFragment(input, () => 1);
    },
    // Callers treat a fragment that cannot be read as damaged.
    errors: [RangeError],
    seeds: [seeds.FRAGMENT],
    maxBytes: 4 * MB,
    maxSteps: LINEAR,
  },
  'fragment-span': {
    run: (input) => void measureFragment({ bytes: input, offset: 0 }, 1, Buffer.alloc(16)),
    errors: [UnsupportedMp4],
    seeds: [seeds.FRAGMENT],
    maxBytes: 4 * MB,
    maxSteps: LINEAR,
  },
  'segment-filter': {
    run(input) {
      const whole = filterSegments(input, Math.max(1, input.length));
      check(whole.equals(filterSegments(input, 61)), 'The output depends on chunk boundaries');
    },
    errors: [UpstreamError, UnsupportedMp4],
    seeds: [seeds.FRAGMENT, seeds.SEGMENT_INDEX, seeds.FRAGMENTED_FILE],
    maxSteps: { fixed: 50_000, perByte: 200 },
  },
  'virtual-mp4': {
    run(input) {
      const audio = sourceOf(seeds.movie('soun'));
      const { size, memoryBytes } = createLayout([sourceOf(input), audio]);
      check(Number.isSafeInteger(size) && size < 3e6, 'Larger than its sources');
      check(memoryBytes < 50e6, 'Too much memory');
    },
    errors: [UnsupportedMp4, Error],
    seeds: [seeds.movie('vide')],
    maxBytes: 32 * MB,
    maxInlineBytes: 0,
    // Two million samples are checked at most, each of a size in its file.
    maxSteps: { fixed: 200_000_000, perByte: 1000 },
  },
  'mp4-clip': {
    run(input) {
      const source = sourceOf(input);
      const { video, audio } = parseFileTracks(source, ['vide', 'soun']);
      const trackOf = (header: NonNullable<typeof video>) =>
        readTableSamples(header, { source: 0, fileBytes: source.fileBytes });
      const tracks = { video: video && trackOf(video), audio: audio && [trackOf(audio)] };
      const { size, startSeconds, endSeconds } = layOutClip(tracks, { startSeconds: 1, endSeconds: 3 });
      // Tables have up to 24 bytes for each sample, and each sample at least one byte.
      check(Number.isSafeInteger(size) && size < 3e7, 'Larger than its source');
      check(startSeconds <= endSeconds, 'Ends before its start');
    },
    errors: [UnsupportedMp4, Error],
    seeds: [seeds.movie('vide'), seeds.movie('soun')],
    maxBytes: 32 * MB,
    maxInlineBytes: 0,
    // A million samples of one byte, read three times.
    maxSteps: { fixed: 500_000_000, perByte: 1000 },
  },
  'mp4-clip-fragments': {
    run(input) {
      const { video } = parseFileTracks(sourceOf(seeds.fragmentedMovie('vide')), ['vide']);
      if (!video) return;
      const track = readFragmentSamples(video, { source: 0, fileBytes: 1e6 }, [{ offset: 1000, bytes: input }]);
      const { size } = layOutClip({ video: track }, { startSeconds: 0, endSeconds: 1e6 });
      check(Number.isSafeInteger(size) && size < 3e7, 'Larger than its source');
    },
    errors: [UnsupportedMp4, Error],
    seeds: [seeds.FRAGMENT],
    maxBytes: 4 * MB,
    maxInlineBytes: 0,
    maxSteps: { fixed: 500_000_000, perByte: 1000 },
  },
  'segment-subsegment': {
    run(input) {
      const head = { bytes: input, isWhole: true, size: input.length, encoding: undefined };
      const format = recognizeFormat(input) ?? 'mp4';
      const facts = segmentFormat(format).inspect({ ...head, init: seeds.fragmentedMovie('vide') });
      if ('neededBytes' in facts) return check(facts.neededBytes > input.length, 'Needs what is there');
      const listed = { facts, segmentBytes: input.length, seconds: 2, gapSeconds: 0, isDiscontinuity: false };
      const table = createTable(format, [listed]);
      const bytes = table.entries[0]?.bytes ?? 0;
      const subsegment = seeds.fragmentOf(readSegmentSamples(segmentRequest(table, 0, [input])), bytes);
      check(subsegment.length === bytes, 'A subsegment of another size');
    },
    errors: [UnsupportedMp4],
    seeds: [
      seeds.FRAGMENT,
      seeds.tsSegment(27, seeds.H264_PICTURE, seeds.H264_PICTURE),
      seeds.tsSegment(36, seeds.HEVC_PICTURE, seeds.HEVC_PICTURE),
      seeds.tsSegment(15, seeds.ADTS_FRAME, seeds.ADTS_FRAME),
      Buffer.concat([seeds.ADTS.subarray(0, 12), Buffer.from(seeds.ADTS_FRAME, 'hex'), Buffer.alloc(163)]),
    ],
    maxBytes: 4 * MB,
    maxInlineBytes: 0,
    maxSteps: { fixed: 500_000_000, perByte: 1000 },
  },
  'webm-header': {
    run(input) {
      const read = readWebmFile({ head: input, fileBytes: input.length });
      if (!('tracks' in read))
        return check(read.first <= read.last && read.last < input.length, 'Cues beyond the file');
      const { entries } = createWebmTable(read);
      const mediaBytes = entries.reduce((sum, { segmentBytes }) => sum + segmentBytes, 0);
      check(mediaBytes < input.length, 'More media than the file has');
    },
    errors: [UnsupportedMp4],
    seeds: [webmFile({}), webmFile({ codec: 'A_OPUS' })],
    maxBytes: 2 * MB,
    maxSteps: { fixed: 50_000, perByte: 200 },
  },
  'webm-subsegment': {
    run(input) {
      const read = readWebmFile({ head: WEBM, fileBytes: WEBM.length });
      check('tracks' in read, 'The seed has its cues in front');
      const [, listed] = createWebmTable(read).entries;
      check(listed !== undefined, 'The seed has several cues');
      const table = { ...createWebmTable(read), entries: [listed] };
      const subsegment = seeds.fragmentOf(readSegmentSamples(segmentRequest(table, 0, [input])), listed.bytes);
      check(subsegment.length === listed.bytes, 'A subsegment of another size');
    },
    errors: [UnsupportedMp4],
    seeds: [cluster(1000)],
    maxBytes: 4 * MB,
    maxInlineBytes: 0,
    maxSteps: { fixed: 500_000, perByte: 400 },
  },
  'duration-patch': {
    run(input) {
      const patched = patchHeaderDuration(input, 10);
      check(!patched || patched.length >= input.length, 'Shorter than before');
    },
    seeds: [seeds.movie('vide'), seeds.FRAGMENTED_FILE],
    maxSteps: LINEAR,
  },
  'sample-entries': {
    run: (input) => void hasEncryptedSampleEntry(input),
    seeds: [seeds.movie('vide')],
    maxBytes: 6 * MB,
    maxSteps: LINEAR,
  },
};
