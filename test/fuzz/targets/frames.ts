import { sniff } from '@reelay/seekable-media/codecs';
import { probeSegmentStart } from '@reelay/seekable-media/mpegts/segment-probe';
import { readOggStreams } from '@reelay/seekable-media/ogg';
import { createSegmentCheck, type SegmentCheckOptions } from '@reelay/seekable-media/segment-checks/segment-check';
import { FULL_TAG_BYTES, fullId3Tag, id3Tag, id3TagBytes } from '@reelay/seekable-media/tags/id3';
import { MP4_TAGS_BYTES, mp4Tags } from '@reelay/seekable-media/tags/mp4-tags';
import * as seeds from '../../../packages/seekable-media/test/seeds.ts';
import { check, type FuzzTargets, LINEAR } from './target.ts';

/** Checks a segment in chunks of several sizes: results must not depend on where chunks end. */
function checkSegments(input: Buffer): void {
  const scan = (chunkBytes: number, options: SegmentCheckOptions) => {
    const segment = createSegmentCheck({ seconds: 10, ...options });
    for (let at = 0; at < input.length; at += chunkBytes) segment.update(input.subarray(at, at + chunkBytes));
    return segment.problem();
  };
  for (const options of [{}, { isSegment: true }, { isPart: true, expected: () => 'mpegts' as const }])
    check(scan(Math.max(1, input.length), options) === scan(61, options), 'The result depends on chunk boundaries');
}

/** Frames of segments, formats by their first bytes, and tags. */
export const frames: FuzzTargets = {
  'segment-probe': {
    run: (input) => void probeSegmentStart(input),
    seeds: [seeds.FRAGMENTED_FILE, seeds.MPEG_TS, seeds.ADTS],
    maxSteps: LINEAR,
  },
  'segment-check': {
    run: checkSegments,
    seeds: [seeds.FRAGMENTED_FILE, seeds.ADTS, seeds.MPEG_TS],
    // Six checks of each input.
    maxSteps: { fixed: 30_000, perByte: 300 },
  },
  'ogg-streams': {
    run(input) {
      const streams = readOggStreams(input);
      check(streams.length <= input.length / 28, 'More streams than pages');
      for (const { width = 0, height = 0 } of streams)
        check(width < 2 ** 24 && height < 2 ** 24, 'Wider than its header');
    },
    seeds: [seeds.OGG],
    maxSteps: LINEAR,
  },
  sniff: {
    run: (input) => void sniff(input),
    seeds: [seeds.FRAGMENTED_FILE],
    maxSteps: LINEAR,
  },
  id3: {
    run(input) {
      check(id3TagBytes(input) < 2 ** 28 + 20, 'Larger than four bytes of seven bits');
      const tag = id3Tag({ title: input.toString(), artist: input.toString('latin1') });
      check(tag.length < 2048 && (tag.length === 0 || id3TagBytes(tag) === tag.length), 'Its own tag is misread');
    },
    seeds: [seeds.ADTS],
    maxSteps: LINEAR,
  },
  'full-tags': {
    run(input) {
      const [text, latin1] = [input.toString(), input.toString('latin1')];
      const recording = {
        title: text,
        artist: latin1,
        album: text,
        date: latin1,
        link: text,
        trackNumber: input.length,
      };
      const tag = fullId3Tag(recording, input);
      check(tag.length === FULL_TAG_BYTES && id3TagBytes(tag) === tag.length, 'A tag of another size');
      check(mp4Tags(recording, input).length === MP4_TAGS_BYTES, 'Tags of another size');
    },
    // Padding is written whatever the texts are.
    maxSteps: { fixed: 2_000_000, perByte: 200 },
  },
};
