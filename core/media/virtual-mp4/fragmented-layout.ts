import {
  BOX_HEADER_BYTES,
  box,
  boxHeader,
  FRAGMENTED_FILE_TYPE,
  fullBox,
  type OutputTrack,
  UnsupportedMp4,
  u32,
  u64,
  writeFragmentedMovie,
} from '../isobmff/index.ts';
import { type TextChunk, type TextTrack, textTables } from '../timed-text/index.ts';
import { type FragmentedTrack, listFragments, makeFragments, type OutputFragment } from './fragmented-track.ts';
import { type Layout, LayoutBuilder, type SourceIndex, toLayoutTrack } from './layout.ts';
import { type LayoutExtras, type LayoutSource, textTracks } from './layout-source.ts';
import { nameSounds } from './name-sound.ts';

/**
 * libavformat, which Chromium and mpv use, reads the `mfra` at the end only of files where a `free` box before `moov` begins
 * with this text (`mov_read_free`).
 */
const INDEX_AT_END = box('free', Buffer.from('Anevia\x1a\x1a', 'latin1'), Buffer.alloc(8));
/** Players take the duration of the file from the `sidx` of the video: they would cut longer audio off. */
const MAX_DURATION_DIFFERENCE_SECONDS = 30;
/** `referenced_size` of a `sidx` entry has 31 bits (ISO/IEC 14496-12 §8.16.3). */
const MAX_REFERENCED_BYTES = 0x7fff_ffff;

interface PlacedFragment {
  readonly source: SourceIndex;
  readonly fragment: OutputFragment;
  /** Offset from the first fragment of the output. */
  readonly offset: number;
}

/** Text between fragments. */
interface PlacedText {
  readonly block: TextBlock;
  readonly offset: number;
}

/**
 * The layout of files of which at least one is fragmented: fragments interleaved by time, one `sidx` for the video, and `mfra`
 * for all tracks.
 * @throws UnsupportedMp4, and Error when a file is truncated
 */
export function layOutFragments(
  [first, ...others]: readonly LayoutSource[],
  { tags, sounds, ...extras }: LayoutExtras,
): Layout {
  if (!first) throw new TypeError('No source');
  const video = fragmentTrack(first, 'vide', 1);
  const audio = others.map((source, index) => fragmentTrack(source, 'soun', index + 2));
  const isTooFar = ({ durationSeconds }: FragmentedTrack) =>
    Math.abs(video.durationSeconds - durationSeconds) > MAX_DURATION_DIFFERENCE_SECONDS;
  if (audio.some(isTooFar)) throw new UnsupportedMp4('Durations of the tracks differ');
  const tracks = nameSounds([video, ...audio], sounds);
  const texts = textTracks(extras, Math.max(...tracks.map(({ durationSeconds }) => durationSeconds)));
  const blocks = texts.flatMap((text) => cutTextBlocks(text, video.fragments));
  blocks.sort((a, b) => a.startSeconds - b.startSeconds);
  const placed = interleave(
    tracks.map(({ fragments }) => fragments),
    blocks,
  );
  const header = (mediaStart: number): Buffer => {
    const offsets = new Map(
      placed.flatMap((each) => ('block' in each ? [[each.block, mediaStart + each.offset]] : [])),
    );
    const outputs = [...tracks, ...texts.map((text) => placeTextTrack(text, blocks, offsets))];
    return Buffer.concat([FRAGMENTED_FILE_TYPE, INDEX_AT_END, writeFragmentedMovie(outputs, tags && [tags])]);
  };
  const index = writeVideoIndex(video, placed);
  const layout = new LayoutBuilder();
  // Its length does not depend on where the media starts.
  layout.addOwn(header(texts.length > 0 ? header(0).length + index.length : 0));
  layout.addOwn(index);
  const mediaStart = layout.size;
  layout.beginMedia();
  for (const each of placed) {
    if ('block' in each) layout.addOwn(each.block.bytes);
    else each.fragment.addTo(layout, each.source);
  }
  layout.addOwn(writeRandomAccess(placed.filter(isFragment), tracks.length, mediaStart));
  return layout.build(tracks.map(({ header }, index) => toLayoutTrack(header, index + 1)));
}

const isFragment = (placed: PlacedFragment | PlacedText): placed is PlacedFragment => 'fragment' in placed;

/** @throws UnsupportedMp4, and Error when the file is truncated */
export const fragmentTrack = (source: LayoutSource, kind: 'vide' | 'soun', id: number): FragmentedTrack =>
  source.fragments ? listFragments(source, source.fragments, kind) : makeFragments(source, kind, id);

/** Each fragment of the video, then the text and the audio that begin before the video's next fragment. */
function interleave(
  [video = [], ...audio]: readonly (readonly OutputFragment[])[],
  text: readonly TextBlock[],
): readonly (PlacedFragment | PlacedText)[] {
  const placed: (PlacedFragment | PlacedText)[] = [];
  let offset = 0;
  const next = audio.map(() => 0);
  let nextText = 0;
  const add = (source: SourceIndex, fragment: OutputFragment) => {
    placed.push({ source, fragment, offset });
    offset += fragment.bytes;
  };
  for (const [index, fragment] of video.entries()) {
    add(0, fragment);
    const until = video[index + 1]?.startSeconds ?? Number.POSITIVE_INFINITY;
    for (let block = text[nextText]; block && block.startSeconds < until; block = text[++nextText]) {
      placed.push({ block, offset });
      offset += block.bytes.length;
    }
    for (const [track, fragments] of audio.entries()) {
      let at = next[track] ?? 0;
      for (let earlier = fragments[at]; earlier && earlier.startSeconds < until; earlier = fragments[++at]) {
        add(track + 1, earlier);
      }
      next[track] = at;
    }
  }
  return placed;
}

/** One `sidx` only, for the video: ExoPlayer seeks by it and accepts no second one. */
function writeVideoIndex(
  { timescale, fragments: [first] }: FragmentedTrack,
  placed: readonly (PlacedFragment | PlacedText)[],
): Buffer {
  const last = placed.at(-1);
  const mediaBytes = last ? last.offset + (isFragment(last) ? last.fragment.bytes : last.block.bytes.length) : 0;
  const own = placed.filter(isFragment).filter(({ source }) => source === 0);
  const entries = own.map(({ fragment, offset }, index) => {
    const bytes = (own[index + 1]?.offset ?? mediaBytes) - offset;
    if (bytes > MAX_REFERENCED_BYTES) throw new UnsupportedMp4('Fragment too large');
    return u32(bytes, fragment.duration, fragment.accessPoint);
  });
  const count = u32(entries.length); // `reserved` and `reference_count`, 16 bits each
  return fullBox('sidx', 1, 0, u32(1, timescale), u64(first?.time ?? 0), u64(0), count, ...entries);
}

/** `mfra` (§8.8.9): where the fragments of all tracks begin. */
function writeRandomAccess(placed: readonly PlacedFragment[], sources: number, mediaStart: number): Buffer {
  const tables = Array.from({ length: sources }, (_, source) => writeTrackRandomAccess(source, placed, mediaStart));
  const tablesBytes = tables.reduce((sum, { length }) => sum + length, 0);
  // `mfro` (§8.8.11), 16 bytes, ends the file with the size of the whole `mfra`.
  return box('mfra', ...tables, fullBox('mfro', 0, 0, u32(8 + tablesBytes + 16)));
}

/** `tfra` (§8.8.10), version 1; numbers of `traf`, `trun` and sample of one byte each. */
function writeTrackRandomAccess(source: SourceIndex, placed: readonly PlacedFragment[], mediaStart: number): Buffer {
  const own = placed.filter((each) => each.source === source);
  const rows = Buffer.alloc(own.length * 19, 1);
  for (const [index, { fragment, offset }] of own.entries()) {
    rows.writeBigUInt64BE(BigInt(fragment.time), index * 19);
    rows.writeBigUInt64BE(BigInt(mediaStart + offset), index * 19 + 8);
  }
  return fullBox('tfra', 1, 0, u32(source + 1, 0, own.length), rows);
}

/** Samples of a text track in an `mdat` of their own, between fragments. */
interface TextBlock {
  readonly track: TextTrack;
  readonly startSeconds: number;
  /** In the output. */
  readonly bytes: Buffer;
  readonly chunks: readonly TextChunk[];
}

/**
 * A text track in a fragmented file has its sample tables in `moov`, and its samples between the fragments: libavformat up to
 * version 7 ignores the durations of samples in fragments, and so would show no text.
 * @returns a block for each fragment of the video with which text begins
 */
function cutTextBlocks(track: TextTrack, video: readonly OutputFragment[]): readonly TextBlock[] {
  const blocks: TextBlock[] = [];
  let next = 0;
  for (const [index, { startSeconds }] of video.entries()) {
    const until = video[index + 1]?.startSeconds ?? Number.POSITIVE_INFINITY;
    const chunks: TextChunk[] = [];
    for (let chunk = track.chunks[next]; chunk && chunk.startSeconds < until; chunk = track.chunks[++next]) {
      chunks.push(chunk);
    }
    if (chunks.length === 0) continue;
    const content = chunks.map(({ bytes }) => bytes);
    const size = content.reduce((sum, { length }) => sum + length, BOX_HEADER_BYTES);
    blocks.push({ track, startSeconds, chunks, bytes: Buffer.concat([boxHeader('mdat', size), ...content], size) });
  }
  return blocks;
}

/**
 * The track with the places of its samples.
 * @param offsets of the blocks in the output
 */
function placeTextTrack(
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
