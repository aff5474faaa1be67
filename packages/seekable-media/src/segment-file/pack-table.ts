import { UnsupportedMp4 } from '../isobmff/index.ts';
import type { SegmentTable, TableEntry } from './segment-table.ts';

/**
 * A table in a few bytes a segment: a line of JSON, then numbers of variable length. Entries differ little from those before
 * them, and their sizes from those of their segments.
 */
export function packTable({ entries, encodings, ...table }: SegmentTable): Buffer {
  const described = encodings.map(({ tracks, state }) => ({
    state: state.toString('base64'),
    tracks: tracks.map((track) => ({
      ...track,
      sampleEntry: track.sampleEntry.toString('base64'),
      presentation: track.presentation.toString('base64'),
    })),
  }));
  const numbers: number[] = [];
  const isAudioSized = entries.every(({ audioBytes }) => audioBytes !== undefined);
  const isTimed = entries.every(({ clock }) => clock !== undefined);
  let before = { time: 0, step: 0, late: 0 };
  for (const { segmentBytes, bytes, audioBytes = 0, time, clock = time, startsWithSync, encoding } of entries) {
    const step = time - before.time;
    const late = time - clock;
    const flags = encoding * 2 + Number(startsWithSync);
    writeNumber(numbers, flags);
    writeNumber(numbers, segmentBytes);
    writeNumber(numbers, fold(bytes - segmentBytes));
    writeNumber(numbers, fold(step - before.step));
    if (isAudioSized) writeNumber(numbers, audioBytes);
    if (isTimed) writeNumber(numbers, fold(late - before.late));
    before = { time, step, late };
  }
  const line = JSON.stringify({ ...table, isAudioSized, isTimed, count: entries.length, encodings: described });
  return Buffer.concat([Buffer.from(`${line}\n`), Buffer.from(numbers)]);
}

/** @throws UnsupportedMp4 when it is no table */
export function unpackTable(packed: Buffer): SegmentTable {
  const end = packed.indexOf('\n');
  if (end < 0) throw new UnsupportedMp4('No table of segments');
  const { count, isAudioSized, isTimed, encodings, ...table } = JSON.parse(packed.toString('utf8', 0, end));
  const numbers = readNumbers(packed.subarray(end + 1));
  const next = () => numbers.next().value ?? 0;
  let before = { time: 0, step: 0, late: 0 };
  const entries = Array.from({ length: count }, (): TableEntry => {
    const flags = next();
    const segmentBytes = next();
    const bytes = segmentBytes + unfold(next());
    const step = before.step + unfold(next());
    const audioBytes = isAudioSized ? next() : undefined;
    const late = before.late + (isTimed ? unfold(next()) : 0);
    const time = before.time + step;
    before = { time, step, late };
    const clock = isTimed ? time - late : undefined;
    const encoding = Math.floor(flags / 2);
    return { segmentBytes, bytes, audioBytes, time, clock, startsWithSync: flags % 2 === 1, encoding };
  });
  return { ...table, entries, encodings: encodings.map(unpackEncoding) };
}

type Texts<T> = { readonly [Name in keyof T]: T[Name] extends Buffer ? string : T[Name] };
type PackedTrack = Texts<SegmentTable['encodings'][number]['tracks'][number]>;

const unpackEncoding = ({ state, tracks }: { readonly state: string; readonly tracks: readonly PackedTrack[] }) => ({
  state: Buffer.from(state, 'base64'),
  tracks: tracks.map((track) => ({
    ...track,
    sampleEntry: Buffer.from(track.sampleEntry, 'base64'),
    presentation: Buffer.from(track.presentation, 'base64'),
  })),
});

/** A signed number as one that is not negative. */
const fold = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value);
const unfold = (value: number): number => (value % 2 === 1 ? -(value + 1) / 2 : value / 2);

/** Seven bits in a byte, the lowest first; the eighth says that more follow. */
function writeNumber(bytes: number[], value: number): void {
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push(0x80 + (rest % 0x80));
  bytes.push(rest);
}

function* readNumbers(bytes: Buffer): Generator<number, undefined> {
  let [value, unit] = [0, 1];
  for (const byte of bytes) {
    value += (byte & 0x7f) * unit;
    unit *= 0x80;
    if (byte & 0x80) continue;
    yield value;
    [value, unit] = [0, 1];
  }
}
