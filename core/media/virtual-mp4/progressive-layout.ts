import {
  box,
  fullBox,
  LARGE_BOX_HEADER_BYTES,
  parseBoxes,
  parseSampleTable,
  parseTrackHeader,
  type TrackHeader,
  UnsupportedMp4,
  u32,
  u64,
  writeMovie,
} from '../isobmff/index.ts';
import type { LayoutSource } from './indexed-source.ts';
import { type Layout, LayoutBuilder, layoutTrack, type SourceIndex } from './layout.ts';
import { cutChunks, type SampleChunk } from './sample-chunks.ts';

/** Major brand `isom`, minor version 512, compatible with `isom`, `iso2` and `mp41`. */
const FILE_TYPE = box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1'));
/** Tables of samples, which stay valid in other chunks (ISO/IEC 14496-12 §8.5, §8.6, §8.7, §8.9). */
const SAMPLE_BOXES = new Set(['stts', 'ctts', 'cslg', 'stss', 'stsh', 'stsz', 'sdtp', 'sbgp', 'sgpd', 'subs', 'stdp']);

interface ProgressiveTrack {
  readonly header: TrackHeader;
  readonly chunks: readonly SampleChunk[];
  readonly durationSeconds: number;
  readonly mediaSeconds: number;
}

/**
 * The layout of two files with sample tables: `moov` in front with the tables of both, then their samples, interleaved in
 * chunks of about one second.
 * @throws UnsupportedMp4, and Error when a file is truncated
 */
export function layOutSamples(video: LayoutSource, audio: LayoutSource): Layout {
  const tracks = [progressiveTrack(video, 'vide'), progressiveTrack(audio, 'soun')] as const;
  const order = interleave(tracks[0].chunks, tracks[1].chunks);
  const mediaBytes = order.reduce((sum, { chunk }) => sum + chunk.bytes, 0);
  const layout = new LayoutBuilder();
  const placeholder = header(tracks, chunkOffsets(order, 0));
  layout.addOwn(header(tracks, chunkOffsets(order, placeholder.length + LARGE_BOX_HEADER_BYTES)));
  layout.addOwn(Buffer.concat([u32(1), Buffer.from('mdat'), u64(LARGE_BOX_HEADER_BYTES + mediaBytes)]));
  for (const { source, chunk } of order) layout.addSamples(source, chunk.sourceOffset, chunk.bytes);
  return layout.build([layoutTrack(tracks[0].header, 1), layoutTrack(tracks[1].header, 2)]);
}

function progressiveTrack(source: LayoutSource, kind: 'vide' | 'soun'): ProgressiveTrack {
  const header = parseTrackHeader(source.moov, kind);
  if (header.fragmentDefaults) throw new UnsupportedMp4('Fragments without an index');
  const { chunks, seconds } = cutChunks(parseSampleTable(header.sampleTable), header.timescale, source.fileBytes);
  if (chunks.length === 0) throw new UnsupportedMp4('No samples');
  // With an edit list, the presentation is shorter or longer than its samples.
  const durationSeconds = header.edits.length > 0 ? (header.durationSeconds ?? seconds) : seconds;
  return { header, chunks, durationSeconds, mediaSeconds: seconds };
}

interface PlacedChunk {
  readonly source: SourceIndex;
  readonly chunk: SampleChunk;
}

/** By decode time; of equals, the video first. */
function interleave(video: readonly SampleChunk[], audio: readonly SampleChunk[]): readonly PlacedChunk[] {
  const order: PlacedChunk[] = [];
  let next = 0;
  for (const chunk of video) {
    for (let sound = audio[next]; sound && sound.startSeconds < chunk.startSeconds; sound = audio[next]) {
      order.push({ source: 1, chunk: sound });
      next += 1;
    }
    order.push({ source: 0, chunk });
  }
  for (const chunk of audio.slice(next)) order.push({ source: 1, chunk });
  return order;
}

/** Where the chunks of each source are in the output. */
function chunkOffsets(order: readonly PlacedChunk[], mediaStart: number): readonly [number[], number[]] {
  const offsets: readonly [number[], number[]] = [[], []];
  let offset = mediaStart;
  for (const { source, chunk } of order) {
    offsets[source].push(offset);
    offset += chunk.bytes;
  }
  return offsets;
}

/** `ftyp` and `moov`, whose length does not depend on the offsets. */
function header(tracks: readonly [ProgressiveTrack, ProgressiveTrack], offsets: readonly [number[], number[]]): Buffer {
  const outputs = ([0, 1] as const).map((source) => ({
    ...tracks[source],
    sampleTables: sampleTables(tracks[source], offsets[source]),
  }));
  return Buffer.concat([FILE_TYPE, writeMovie(outputs)]);
}

function sampleTables({ header: { sampleTable }, chunks }: ProgressiveTrack, offsets: readonly number[]): Buffer[] {
  const kept = [...parseBoxes(sampleTable)]
    .filter(({ type, end }) => SAMPLE_BOXES.has(type) && end <= sampleTable.length)
    .map(({ start, end }) => sampleTable.subarray(start, end));
  const positions = Buffer.alloc(offsets.length * 8);
  for (const [index, offset] of offsets.entries()) positions.writeBigUInt64BE(BigInt(offset), index * 8);
  return [...kept, sampleToChunk(chunks), fullBox('co64', 0, 0, u32(offsets.length), positions)];
}

/** `stsc` (§8.7.4): a row for each run of chunks with as many samples of the same description. */
function sampleToChunk(chunks: readonly SampleChunk[]): Buffer {
  const rows: Buffer[] = [];
  let last: SampleChunk | undefined;
  for (const [index, chunk] of chunks.entries()) {
    const isRun = last?.samples === chunk.samples && last.description === chunk.description;
    if (!isRun) rows.push(u32(index + 1, chunk.samples, chunk.description));
    last = chunk;
  }
  return fullBox('stsc', 0, 0, u32(rows.length), ...rows);
}
