import { Readable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { boxHeader, fullBox, u32, u64 } from '../../../../packages/seekable-media/src/isobmff/boxes.ts';
import { writeMovie } from '../../../../packages/seekable-media/src/isobmff/movie-header.ts';
import { parseSampleTable } from '../../../../packages/seekable-media/src/isobmff/sample-table.ts';
import type { SizedFile } from '../../../../stream-service/source/open-source.ts';
import { FILE_TYPE, headerOf } from './generated-source.ts';

const CHUNK_BYTES = 256 * 1024;

export interface RepeatOptions {
  readonly kind: 'vide' | 'soun';
  readonly times: number;
  /** `moov` behind the media. @default false */
  readonly isMovieLast?: boolean;
}

/** A progressive file that repeats the samples of another one: any size, computed while it is read. */
export function repeatSamples(file: Buffer, { kind, times, isMovieLast = false }: RepeatOptions) {
  const header = headerOf(file, kind);
  const sample = parseSampleTable(header.sampleTable).cursor();
  const samples: { size: number; duration: number; composition: number; isSync: boolean }[] = [];
  const parts: Buffer[] = [];
  while (sample.next()) {
    const { size, duration, compositionOffset: composition, isSync } = sample;
    samples.push({ size, duration, composition, isSync });
    parts.push(file.subarray(sample.offset, sample.offset + size));
  }
  const unit = Buffer.concat(parts);
  const repeat = (rows: readonly number[]) => {
    const once = u32(...rows);
    return Buffer.alloc(once.length * times, once);
  };
  const sync = samples.flatMap(({ isSync }, index) => (isSync ? [index + 1] : []));
  const syncRows = Buffer.concat(
    Array.from({ length: times }, (_, turn) => u32(...sync.map((number) => number + turn * samples.length))),
  );
  const unitDuration = samples.reduce((sum, { duration }) => sum + duration, 0);
  const seconds = (unitDuration * times) / header.timescale;
  const hasComposition = samples.some(({ composition }) => composition !== 0);
  const durations = samples.flatMap(({ duration }) => [1, duration]);
  const compositions = samples.flatMap(({ composition }) => [1, composition]);
  const tables = [
    fullBox('stts', 0, 0, u32(samples.length * times), repeat(durations)),
    ...(sync.length < samples.length ? [fullBox('stss', 0, 0, u32(sync.length * times), syncRows)] : []),
    ...(hasComposition ? [fullBox('ctts', 1, 0, u32(samples.length * times), repeat(compositions))] : []),
    fullBox('stsc', 0, 0, u32(1, 1, samples.length, 1)),
    fullBox('stsz', 0, 0, u32(0, samples.length * times), repeat(samples.map(({ size }) => size))),
  ];
  const edits = header.edits.map((edit) => ({ ...edit, duration: Math.round(seconds * header.movieTimescale) }));
  const movie = (firstOffset: number) => {
    const offsets = Buffer.alloc(times * 8);
    for (let turn = 0; turn < times; turn += 1) {
      offsets.writeBigUInt64BE(BigInt(firstOffset + turn * unit.length), turn * 8);
    }
    const sampleTables = [...tables, fullBox('co64', 0, 0, u32(times), offsets)];
    return writeMovie([{ header: { ...header, edits }, durationSeconds: seconds, sampleTables }]);
  };
  const mediaBytes = unit.length * times;
  const media = Buffer.concat([boxHeader('mdat', 1), u64(16 + mediaBytes)]);
  const before = isMovieLast ? [FILE_TYPE] : [FILE_TYPE, movie(FILE_TYPE.length + movie(0).length + media.length)];
  const head = Buffer.concat([...before, media]);
  const tail = isMovieLast ? movie(head.length) : Buffer.alloc(0);
  const size = head.length + mediaBytes + tail.length;

  /** Up to `CHUNK_BYTES` from an offset. */
  const bytesAt = (at: number, last: number): Buffer => {
    const from = at - head.length;
    const bytes = Math.min(last + 1 - at, CHUNK_BYTES);
    if (from < 0) return head.subarray(at, at + bytes);
    if (from >= mediaBytes) return tail.subarray(from - mediaBytes, from - mediaBytes + bytes);
    const start = from % unit.length;
    return unit.subarray(start, start + bytes);
  };
  async function* chunks(first: number, last: number) {
    for (let at = first; at <= last; ) {
      // As on a network, each chunk arrives in a turn of the event loop: it notices that a client has disconnected.
      await turn();
      // The reader owns its chunks.
      const chunk = Buffer.copyBytesFrom(bytesAt(at, last));
      at += chunk.length;
      yield chunk;
    }
  }
  const reads: { readonly first: number; readonly last: number }[] = [];
  const source: SizedFile = {
    needsRemux: false,
    size,
    validator: '"repeated"',
    read(first, last = size - 1) {
      reads.push({ first, last });
      return Readable.from(chunks(first, last), { objectMode: false });
    },
    close: () => undefined,
  };
  return Object.assign(source, { reads, seconds, unitSeconds: unitDuration / header.timescale });
}
