import {
  box,
  fullBox,
  type IndexedBox,
  indexContent,
  LARGE_BOX_HEADER_BYTES,
  parseSampleTable,
  parseTrackHeader,
  type TrackHeader,
  UnsupportedMp4,
  u32,
  writeMovie,
} from '../isobmff/index.ts';
import { type TextTrack, textTables } from '../text/text-track.ts';
import { type Layout, LayoutBuilder } from './layout.ts';
import {
  type FileHeaders,
  isList,
  type LayoutExtras,
  type LayoutSource,
  type SourceIndex,
  textTracks,
} from './layout-source.ts';
import { nameSounds } from './name-sound.ts';
import {
  addMedia,
  bytesOf,
  cutChunks,
  interleave,
  type Placed,
  placeText,
  type SampleChunk,
  sampleToChunk,
} from './sample-chunks.ts';
import { layOutSubsegments } from './subsegment-layout.ts';

/** Major brand `isom`, minor version 512, compatible with `isom`, `iso2` and `mp41`. */
export const PROGRESSIVE_FILE_TYPE = box('ftyp', Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1'));
/** Tables of samples, which stay valid in other chunks (ISO/IEC 14496-12 §8.5, §8.6, §8.7, §8.9). */
const SAMPLE_BOXES = new Set(['stts', 'ctts', 'cslg', 'stss', 'stsh', 'stsz', 'sdtp', 'sbgp', 'sgpd', 'subs', 'stdp']);
/** Ten hours of video have tables of 15 MB, which a layout must not keep in memory; one hour has less than 1 MB each. */
const MAX_OWN_TABLE_BYTES = 1024 * 1024;

/**
 * The layout of one MP4 with the video track of the first file and the audio tracks of the others: a pure function of their
 * headers.
 * @throws UnsupportedMp4 when the output cannot be known before the media has been read; Error when a file is truncated
 */
export function createLayout(sources: readonly LayoutSource[], extras: LayoutExtras = {}): Layout {
  const progressive = sources.filter((source) => !isList(source) && !source.fragments) as readonly FileHeaders[];
  return progressive.length < sources.length ? layOutSubsegments(sources, extras) : layOutSamples(progressive, extras);
}

interface ProgressiveTrack {
  readonly header: TrackHeader;
  readonly source: SourceIndex;
  readonly chunks: readonly SampleChunk[];
  readonly durationSeconds: number;
  readonly mediaSeconds: number;
}

/**
 * The layout of files with sample tables: `moov` in front with the tables of all, then their samples, interleaved in chunks of
 * about one second.
 * @throws UnsupportedMp4, and Error when a file is truncated
 */
function layOutSamples(sources: readonly FileHeaders[], { tags, sounds, ...extras }: LayoutExtras): Layout {
  const tracks = nameSounds(sources.map(parseProgressive), sounds);
  const seconds = Math.max(...tracks.map(({ durationSeconds }) => durationSeconds));
  const texts = textTracks(extras, seconds);
  const order = placeText(interleave(tracks), texts, { firstTrack: tracks.length });
  const layout = new LayoutBuilder();
  addHeader(layout, writeHeader({ tracks, texts, order, tags }), sources);
  addMedia(layout, order);
  return layout.build(seconds);
}

function parseProgressive({ movie, fileBytes }: FileHeaders, source: SourceIndex): ProgressiveTrack {
  const header = parseTrackHeader(movie, source === 0 ? 'vide' : 'soun');
  if (header.fragmentDefaults) throw new UnsupportedMp4('Fragments without an index');
  const { chunks, seconds } = cutChunks(parseSampleTable(header.sampleTable), header.timescale, fileBytes);
  if (chunks.length === 0) throw new UnsupportedMp4('No samples');
  // With an edit list, the presentation is shorter or longer than its samples.
  const durationSeconds = header.edits.length > 0 ? (header.durationSeconds ?? seconds) : seconds;
  return { header, source, chunks, durationSeconds, mediaSeconds: seconds };
}

/** `ftyp` and `moov`. */
interface MovieHeader {
  readonly bytes: Buffer;
  /** Copies of tables of the sources. */
  readonly copies: readonly TableCopy[];
}

interface TableCopy {
  readonly source: SourceIndex;
  /** Offset in the header. */
  readonly start: number;
  /** The box in the `moov` of the source. */
  readonly table: Buffer;
}

interface MovieContent extends Pick<LayoutExtras, 'tags'> {
  readonly tracks: readonly ProgressiveTrack[];
  readonly texts: readonly TextTrack[];
  readonly order: readonly Placed[];
}

function writeHeader({ tracks, texts, order, tags }: MovieContent): MovieHeader {
  const kept = tracks.map(keptTables);
  const outputs = tracks.map((track) => {
    const { chunks } = track;
    const offsets = fullBox('co64', 0, 0, u32(chunks.length), Buffer.alloc(chunks.length * 8));
    return { ...track, sampleTables: [...(kept[track.source] ?? []), sampleToChunk(chunks), offsets] };
  });
  const bytes = Buffer.concat([
    PROGRESSIVE_FILE_TYPE,
    writeMovie([...outputs, ...texts.map((text) => ({ ...text, sampleTables: textTables(text) }))], tags && [tags]),
  ]);
  const stbls = findSampleTables(bytes);
  writeChunkOffsets(bytes, stbls, order);
  // `stsd`, the tables of the source in their order, `stsc` and `co64`.
  const copies = tracks.flatMap(({ source }) =>
    (kept[source] ?? []).map((table, index) => ({ source, start: stbls[source]?.[index + 1]?.start ?? 0, table })),
  );
  return { bytes, copies };
}

const keptTables = ({ header: { sampleTable } }: ProgressiveTrack): Buffer[] =>
  indexContent(sampleTable, 'stbl')
    .children.filter(({ type, end }) => SAMPLE_BOXES.has(type) && end <= sampleTable.length)
    .map(({ whole }) => whole);

/** The children of the `stbl` of each track. */
function findSampleTables(header: Buffer): readonly (readonly IndexedBox[])[] {
  return indexContent(header, 'file')
    .require('moov')
    .children.filter(({ type }) => type === 'trak')
    .map((trak) => trak.require('mdia').require('minf').require('stbl').children);
}

/** Writes where the chunks of each source are in the output: behind the header, whose length does not depend on it. */
function writeChunkOffsets(header: Buffer, stbls: readonly (readonly IndexedBox[])[], order: readonly Placed[]): void {
  const rows = stbls.map((boxes) => (boxes.at(-1)?.content ?? 0) + 8);
  let offset = header.length + LARGE_BOX_HEADER_BYTES;
  for (const placed of order) {
    const at = rows[placed.track] ?? 0;
    header.writeUInt32BE(Math.floor(offset / 2 ** 32), at);
    header.writeUInt32BE(offset % 2 ** 32, at + 4);
    rows[placed.track] = at + 8;
    offset += bytesOf(placed);
  }
}

/** Adds the header to a layout. Large tables are not kept: they are read from their source. */
function addHeader(layout: LayoutBuilder, { bytes, copies }: MovieHeader, sources: readonly FileHeaders[]) {
  let at = 0;
  for (const { source, start, table } of copies) {
    const { movie, moovOffset } = sources[source] ?? {};
    if (!movie || table.length <= MAX_OWN_TABLE_BYTES || moovOffset === undefined) continue;
    layout.addOwn(bytes.subarray(at, start));
    layout.addTable(source, moovOffset + table.byteOffset - movie.bytes.byteOffset, table);
    at = start + table.length;
  }
  layout.addOwn(bytes.subarray(at));
}
