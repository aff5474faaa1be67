import {
  BOX_HEADER_BYTES,
  boxHeader,
  type Edit,
  FRAGMENTED_FILE_TYPE,
  fullBox,
  type OutputTrack,
  patchCreationTime,
  type TrackHeader,
  UnsupportedMp4,
  u32,
  u64,
  writeFragmentedMovie,
} from '../isobmff/index.ts';
import { type TextChunk, type TextTrack, textTables } from '../text/text-track.ts';
import { type Layout, LayoutBuilder } from './layout.ts';
import { type LayoutExtras, type LayoutSource, listKinds, textTracks } from './layout-source.ts';
import { nameSounds } from './name-sound.ts';
import { lastEnd, packSubsegmentTrack, planSubsegments, type SubsegmentPlan } from './subsegment-plan.ts';
import { readTrackFragments, type TrackFragments } from './track-fragments.ts';

/** Players take the duration of the file from the `sidx`: they would cut longer audio off. */
const MAX_DURATION_DIFFERENCE_SECONDS = 30;

/**
 * The layout of sources of which at least one is fragmented or a list of segments: one `sidx`, and subsegments of which each has a fragment of the video and the
 * audio of its time (docs/decisions/computed-files.md, subsegments).
 * @throws UnsupportedMp4, and Error when a file is truncated
 */
export const layOutSubsegments = (sources: readonly LayoutSource[], extras: LayoutExtras): Layout =>
  layOut(readSources(sources), extras, false).layout;

/** A file of subsegments, and what describes it. */
export interface SubsegmentFile {
  readonly layout: Layout;
  readonly subsegments: SubsegmentPlan['subsegments'];
  /** Of the times of subsegments, units per second. */
  readonly timescale: number;
  /** `ftyp` and `moov`. */
  readonly headerBytes: number;
  readonly headers: readonly TrackHeader[];
}

/**
 * Some tracks of one file, at the times that they have there, with its edit lists: files of tracks that are played together stay together.
 * @param describe what the sample descriptions (`stsd`) of each become
 * @throws as `layOutSubsegments`
 */
export const layOutTracks = (
  source: LayoutSource,
  kinds: readonly ('vide' | 'soun')[],
  describe: (stsd: Buffer) => Buffer,
): SubsegmentFile =>
  layOut(
    kinds.map((kind) => {
      const { header, ...track } = readTrackFragments(source, 0, kind);
      return { ...track, header: { ...header, sampleDescriptions: describe(header.sampleDescriptions) } };
    }),
    {},
    true,
  );

/** @param hasOwnTimes they are not moved, and edit lists kept */
function layOut(
  [video, ...audio]: readonly TrackFragments[],
  { tags, sounds, recordedAtMs, ...extras }: LayoutExtras,
  hasOwnTimes: boolean,
): SubsegmentFile {
  if (!video) throw new UnsupportedMp4('No track');
  const plan = planSubsegments([video, ...audio], hasOwnTimes);
  const { subsegments, timescale, delaySeconds } = plan;
  const tracks = nameSounds(
    [video, ...audio].map((source) => toOutputTrack(source, plan, hasOwnTimes)),
    sounds,
  );
  const [{ durationSeconds: videoSeconds = 0 } = {}, ...others] = tracks;
  if (others.some(({ durationSeconds }) => Math.abs(videoSeconds - durationSeconds) > MAX_DURATION_DIFFERENCE_SECONDS))
    throw new UnsupportedMp4('Durations of the tracks differ');
  const seconds = Math.max(...tracks.map((track) => track.durationSeconds));
  const texts = textTracks(delayText(extras, delaySeconds), seconds);
  const starts = subsegments.map(({ time }) => time / timescale);
  const blocks = texts.flatMap((text) => cutTextBlocks(text, starts));
  const after = Map.groupBy(blocks, ({ subsegment }) => subsegment);
  const textBytes = subsegments.map(
    (_, number) => after.get(number)?.reduce((sum, { bytes }) => sum + bytes.length, 0) ?? 0,
  );
  const index = writeIndex(plan, textBytes);
  const header = (mediaStart: number): Buffer => {
    const offsets = new Map<TextBlock, number>();
    let offset = mediaStart;
    for (const [number, { bytes }] of subsegments.entries()) {
      offset += bytes;
      for (const block of after.get(number) ?? []) {
        offsets.set(block, offset);
        offset += block.bytes.length;
      }
    }
    const outputs = [...tracks, ...texts.map((text) => locateTextTrack(text, blocks, offsets))];
    const movie = Buffer.concat([FRAGMENTED_FILE_TYPE, writeFragmentedMovie(outputs, tags && [tags])]);
    return recordedAtMs === undefined ? movie : patchCreationTime(movie, recordedAtMs);
  };
  const layout = new LayoutBuilder();
  layout.setSubsegmentTracks(plan.tracks.map((track) => packSubsegmentTrack(track, (bytes) => layout.keep(bytes))));
  // Its length does not depend on where the media starts.
  const written = header(texts.length > 0 ? header(0).length + index.length : 0);
  layout.addOwn(written);
  layout.addOwn(index);
  layout.beginMedia();
  for (const [number, { bytes }] of subsegments.entries()) {
    layout.addSubsegment(number, bytes);
    for (const block of after.get(number) ?? []) layout.addOwn(block.bytes);
  }
  const headers = [video, ...audio].map((source) => source.header);
  return { layout: layout.build(seconds), subsegments, timescale, headerBytes: written.length, headers };
}

/** All tracks of one source; of several, the video of the first one and the audio of the others. */
function readSources([first, ...others]: readonly LayoutSource[]): readonly TrackFragments[] {
  if (!first) throw new TypeError('No source');
  if (others.length === 0) return listKinds(first).map((kind) => readTrackFragments(first, 0, kind));
  const audio = others.map((source, index) => readTrackFragments(source, index + 1, 'soun'));
  return [readTrackFragments(first, 0, 'vide'), ...audio];
}

/** The track in units of the output. */
function toOutputTrack(
  source: TrackFragments,
  { timescale, delaySeconds }: SubsegmentPlan,
  hasEdits: boolean,
): OutputTrack {
  const factor = BigInt(timescale / source.header.timescale);
  const edits = hasEdits ? source.header.edits.map((edit) => scaleEdit(edit, factor)) : [];
  const header = { ...source.header, timescale, edits, fragmentDefaults: undefined };
  return { header, durationSeconds: lastEnd(source) + delaySeconds - (hasEdits ? 0 : source.hiddenSeconds) };
}

const scaleEdit = ({ mediaTime, ...edit }: Edit, factor: bigint): Edit => ({
  ...edit,
  // An empty edit has -1.
  mediaTime: mediaTime < 0n ? mediaTime : mediaTime * factor,
});

/** What is shown so much later, but for chapters that begin with the presentation. */
const delayText = ({ text, chapters }: Pick<LayoutExtras, 'text' | 'chapters'>, seconds: number) => ({
  text: text && {
    ...text,
    cues: text.cues.map((cue) => ({
      ...cue,
      startMs: cue.startMs + Math.round(seconds * 1000),
      endMs: cue.endMs + Math.round(seconds * 1000),
    })),
  },
  chapters: chapters?.map((chapter) => ({
    ...chapter,
    startSeconds: chapter.startSeconds && chapter.startSeconds + seconds,
    endSeconds: chapter.endSeconds + seconds,
  })),
});

/**
 * `sidx` (ISO/IEC 14496-12 §8.16.3): its times are decode times in the units of the tracks. With presentation times, FFmpeg 5.1 begins
 * one subsegment early wherever it seeks. One only: ExoPlayer accepts no second one.
 * @param textBytes by subsegment: of the text after it
 */
function writeIndex({ subsegments, timescale }: SubsegmentPlan, textBytes: readonly number[]): Buffer {
  const entries = subsegments.map(({ bytes, duration, accessPoint }, index) =>
    u32(bytes + (textBytes[index] ?? 0), duration, accessPoint),
  );
  const count = u32(entries.length); // `reserved` and `reference_count`, 16 bits each
  return fullBox('sidx', 1, 0, u32(1, timescale), u64(subsegments[0]?.time ?? 0), u64(0), count, ...entries);
}

/** Samples of a text track in an `mdat` of their own, between fragments. */
interface TextBlock {
  readonly track: TextTrack;
  /** After which it is. */
  readonly subsegment: number;
  /** In the output. */
  readonly bytes: Buffer;
  readonly chunks: readonly TextChunk[];
}

/**
 * A text track in a fragmented file has its sample tables in `moov`, and its samples between the fragments: libavformat up to
 * version 7 ignores the durations of samples in fragments, and so would show no text.
 * @param starts of the subsegments, in seconds
 * @returns a block for each subsegment in whose time text begins
 */
function cutTextBlocks(track: TextTrack, starts: readonly number[]): readonly TextBlock[] {
  const blocks: TextBlock[] = [];
  let next = 0;
  for (const subsegment of starts.keys()) {
    const until = starts[subsegment + 1] ?? Number.POSITIVE_INFINITY;
    const chunks: TextChunk[] = [];
    for (let chunk = track.chunks[next]; chunk && chunk.startSeconds < until; chunk = track.chunks[++next]) {
      chunks.push(chunk);
    }
    if (chunks.length === 0) continue;
    const content = chunks.map(({ bytes }) => bytes);
    const size = content.reduce((sum, { length }) => sum + length, BOX_HEADER_BYTES);
    blocks.push({ track, subsegment, chunks, bytes: Buffer.concat([boxHeader('mdat', size), ...content], size) });
  }
  return blocks;
}

/**
 * The track with the places of its samples.
 * @param offsets of the blocks in the output
 */
function locateTextTrack(
  track: TextTrack,
  blocks: readonly TextBlock[],
  offsets: ReadonlyMap<TextBlock, number>,
): OutputTrack {
  const own = blocks.filter((block) => block.track === track);
  const chunkOffsets = own.flatMap((block) => {
    let offset = (offsets.get(block) ?? 0) + BOX_HEADER_BYTES;
    return block.chunks.map(({ bytes }) => {
      const start = offset;
      offset += bytes.length;
      return start;
    });
  });
  return { ...track, sampleTables: textTables(track, chunkOffsets) };
}
