import { createHash } from 'node:crypto';
import { UnsupportedMp4 } from '../isobmff/index.ts';
import type { SourceIndex } from './layout-source.ts';
import { type PackedSubsegmentTrack, subsegmentTrackBytes } from './subsegment-table.ts';

/** A part of the ETag: increased whenever the same sources get another layout. */
export const LAYOUT_VERSION = 8;

/** Consecutive bytes of the output that come from one place. Offsets and lengths in bytes. */
export interface Extent {
  /** Position in the list of extents. */
  readonly index: number;
  /** Offset in the output. */
  readonly start: number;
  readonly bytes: number;
  /**
   * `own`: bytes of the layout itself. `samples`: bytes of a source as they are. `page`: packets of a source behind a header of the layout, which gets their checksum. `subsegment`:
   * a fragment of samples of several sources, which is arranged when they are read.
   */
  readonly kind: 'own' | 'samples' | 'page' | 'subsegment';
  /** The source; 0 for `own`, and of a subsegment that of the video. */
  readonly source: SourceIndex;
  /** Offset in the source, or in the layout's own bytes; of a subsegment, its number. */
  readonly sourceOffset: number;
  /** Offset of the header of a page in the layout's own bytes. */
  readonly headerOffset: number;
}

/** What a layout consists of: can be cloned. */
export interface LayoutData {
  /** Bytes of the output. */
  readonly size: number;
  /** Sources are below this index. */
  readonly sourceCount: number;
  /** Headers, indexes and trailers that no source has. */
  readonly own: Buffer;
  /** Offset of the media in the output: tables before it may be read from a source, where they lie behind its media. */
  readonly mediaStart: number;
  /** Digest of all bytes that describe the media: `own` and the tables that are read from the sources. */
  readonly fingerprint: string;
  readonly table: ExtentTable;
  /** Of the presentation. Absent: not known. */
  readonly durationSeconds: number | undefined;
  /** What the subsegments are made of, by track of the output; empty: there are none. */
  readonly subsegmentTracks: readonly PackedSubsegmentTrack[];
}

/** A file whose every byte is known from the headers of its sources. */
export interface Layout extends LayoutData {
  /** Extents, which cover the output without gaps. */
  readonly count: number;
  /** Bytes of memory that the layout occupies. */
  readonly memoryBytes: number;
  /** @throws RangeError when there is no such extent */
  extent(index: number): Extent;
  /** The extent that contains an offset. @throws RangeError beyond the end */
  extentAt(offset: number): Extent;
  /** The first extent of a source from one index towards another, both included. */
  findExtent(source: SourceIndex, from: number, to: number): Extent | undefined;
}

/** Five days of chunks of one second, of two tracks, or seventeen hours of seventeen. Files whose samples lie apart have one for each. */
const MAX_EXTENTS = 1_000_000;
const KINDS = ['own', 'samples', 'page', 'subsegment'] as const;
/** Bytes of an extent in the typed arrays. */
const EXTENT_BYTES = 8 + 8 + 8 + 1 + 1;

/** Collects the extents of a layout in the order of the output. */
export class LayoutBuilder {
  #size = 0;
  #ownBytes = 0;
  readonly #own: Buffer[] = [];
  readonly #starts: number[] = [];
  readonly #sourceOffsets: number[] = [];
  readonly #kinds: number[] = [];
  readonly #sources: SourceIndex[] = [];
  readonly #headers: number[] = [];
  readonly #fingerprint = createHash('sha256');
  #mediaStart = 0;
  #sourceCount = 1;
  #subsegmentTracks: readonly PackedSubsegmentTrack[] = [];

  /** Bytes so far: the offset of the next extent. */
  get size(): number {
    return this.#size;
  }

  /** Extents so far. */
  get count(): number {
    return this.#kinds.length;
  }

  addOwn(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#kinds.at(-1) !== 0) this.#add(0, 0, this.#ownBytes);
    this.#own.push(bytes);
    this.#fingerprint.update(bytes);
    this.#ownBytes += bytes.length;
    this.#size += bytes.length;
  }

  /** Adds a table of a source, which is read there instead of being kept. */
  addTable(source: SourceIndex, sourceOffset: number, table: Buffer): void {
    this.#fingerprint.update(table);
    this.addSamples(source, sourceOffset, table.length);
  }

  /** What is added from here on is in the order of each source. */
  beginMedia(): void {
    this.#mediaStart = this.#size;
  }

  /** Adds bytes of a source, which extend the extent before them where they follow it in the source too. */
  addSamples(source: SourceIndex, sourceOffset: number, bytes: number): void {
    if (bytes === 0) return;
    const last = this.#kinds.length - 1;
    const lastEnd = (this.#sourceOffsets[last] ?? 0) + this.#size - (this.#starts[last] ?? 0);
    const isAdjacent = this.#kinds[last] === 1 && this.#sources[last] === source && lastEnd === sourceOffset;
    if (!isAdjacent) this.#add(1, source, sourceOffset);
    this.#size += bytes;
  }

  /** @param header of the page, whose checksum is missing; `bytes`: of its data */
  addPage(
    source: SourceIndex,
    sourceOffset: number,
    { header, bytes }: { readonly header: Buffer; readonly bytes: number },
  ): void {
    this.#add(2, source, sourceOffset);
    this.#headers[this.count - 1] = this.keep(header);
    this.#size += header.length + bytes;
  }

  /** What the subsegments that are added are made of. */
  setSubsegmentTracks(tracks: readonly PackedSubsegmentTrack[]): void {
    this.#subsegmentTracks = tracks;
    for (const { source } of tracks) this.#sourceCount = Math.max(this.#sourceCount, source + 1);
  }

  /** @param number of the subsegment, from 0 */
  addSubsegment(number: number, bytes: number): void {
    this.#add(3, 0, number);
    this.#size += bytes;
  }

  build(durationSeconds?: number): Layout {
    return unpackLayout({
      size: this.#size,
      durationSeconds,
      sourceCount: this.#sourceCount,
      own: Buffer.concat(this.#own, this.#ownBytes),
      mediaStart: this.#mediaStart,
      fingerprint: this.#fingerprint.digest('base64url'),
      subsegmentTracks: this.#subsegmentTracks,
      table: {
        starts: Float64Array.from(this.#starts),
        sourceOffsets: Float64Array.from(this.#sourceOffsets),
        kinds: Uint8Array.from(this.#kinds),
        sources: Uint8Array.from(this.#sources),
        headers: Float64Array.from(this.#headers),
      },
    });
  }

  /** Keeps bytes that are not bytes of the output. Returns their offset in the own ones. */
  keep(bytes: Buffer): number {
    const offset = this.#ownBytes;
    this.#own.push(bytes);
    this.#fingerprint.update(bytes);
    this.#ownBytes += bytes.length;
    return offset;
  }

  #add(kind: number, source: SourceIndex, sourceOffset: number): void {
    if (this.count === MAX_EXTENTS) throw new UnsupportedMp4('Samples in too many places');
    this.#starts.push(this.#size);
    this.#sourceOffsets.push(sourceOffset);
    this.#kinds.push(kind);
    this.#sources.push(source);
    this.#sourceCount = Math.max(this.#sourceCount, source + 1);
  }
}

/** Extents by column. */
interface ExtentTable {
  readonly starts: Float64Array;
  readonly sourceOffsets: Float64Array;
  readonly kinds: Uint8Array;
  readonly sources: Uint8Array;
  /** Empty where there are no pages. */
  readonly headers: Float64Array;
}

/** What a layout consists of, without its functions. */
export function packLayout(layout: LayoutData): LayoutData {
  const { size, durationSeconds, sourceCount, own, mediaStart, fingerprint, table, subsegmentTracks } = layout;
  return { size, durationSeconds, sourceCount, own, mediaStart, fingerprint, table, subsegmentTracks };
}

/** The layout that some data describes. */
export function unpackLayout(data: LayoutData): Layout {
  const { size, own, table } = data;
  const { starts, sourceOffsets, kinds, sources, headers } = table;
  const count = starts.length;

  const extent = (index: number): Extent => {
    const start = starts[index];
    if (start === undefined) throw new RangeError(`No extent ${index}`);
    return {
      index,
      start,
      bytes: (starts[index + 1] ?? size) - start,
      kind: KINDS[kinds[index] ?? 0] ?? 'own',
      source: sources[index] ?? 0,
      sourceOffset: sourceOffsets[index] ?? 0,
      headerOffset: headers[index] ?? 0,
    };
  };

  return {
    ...data,
    count,
    memoryBytes:
      own.length +
      count * EXTENT_BYTES +
      data.subsegmentTracks.reduce((sum, track) => sum + subsegmentTrackBytes(track), 0),
    extent,
    findExtent(source, from, to) {
      const step = from <= to ? 1 : -1;
      for (let index = from; index !== to + step; index += step) {
        if (kinds[index] !== 0 && sources[index] === source) return extent(index);
      }
      return undefined;
    },
    extentAt(offset) {
      if (!(offset >= 0 && offset < size)) throw new RangeError(`No byte ${offset} of ${size}`);
      let low = 0;
      for (let high = count - 1; low < high; ) {
        const middle = Math.ceil((low + high) / 2);
        if ((starts[middle] ?? 0) <= offset) low = middle;
        else high = middle - 1;
      }
      return extent(low);
    },
  };
}
