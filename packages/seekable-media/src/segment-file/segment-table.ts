import { readParameterSets } from '../elementary/index.ts';
import { commonTimescale, type HandlerType, UnsupportedMp4 } from '../isobmff/index.ts';
import { type SegmentFormatName, segmentFormat } from './formats.ts';
import { type Encoding, MAX_SUBSEGMENT_BYTES, type SegmentFacts } from './segment-format.ts';

/** Everything that is known of a list of segments before its media is read. It makes their file, whatever its URLs are. */
export interface SegmentTable {
  readonly format: SegmentFormatName;
  readonly encodings: readonly Encoding[];
  /** Units per second of all times: those of every track of every encoding are whole ones. */
  readonly timescale: number;
  /** Units on the clock of the first segment: when the first sample of any track is shown or heard. */
  readonly startTime: number;
  /** Units: where the last segment ends. */
  readonly endTime: number;
  readonly entries: readonly TableEntry[];
  /** The tracks of the file. @default those of the segments */
  readonly kinds?: readonly HandlerType[];
}

/** A segment, and what it becomes in the file. */
export interface TableEntry {
  /** Size of the segment as its source sends it: encrypted, if it is. */
  readonly segmentBytes: number;
  readonly bytes: number;
  /** What its audio alone takes. Absent: only the whole segment tells. */
  readonly audioBytes?: number;
  /** Units: decode time of the first sample of its main track. */
  readonly time: number;
  /** The same on the clock of its segment, about. Absent: segments tell no time. */
  readonly clock?: number | undefined;
  readonly startsWithSync: boolean;
  /** Index in `encodings`. */
  readonly encoding: number;
}

/** What the list and the first bytes of a segment say. */
export interface ListedSegment {
  readonly facts: SegmentFacts;
  readonly segmentBytes: number;
  readonly seconds: number;
  /** Seconds of declared gaps before it. */
  readonly gapSeconds: number;
  readonly isDiscontinuity: boolean;
  /** As in `Segment`. */
  readonly isTimedByList?: boolean | undefined;
  /** It was not read: it begins when its list says, on the clock of the segment before it. @default false */
  readonly isTold?: boolean;
}

/** One `sidx` has no more entries. */
export const MAX_SUBSEGMENTS = 0xffff;
/** An advertisement may have its own. */
const MAX_ENCODINGS = 64;
/** A segment that starts further from the end of the previous one has a clock of its own. */
const MAX_BACKWARDS_SECONDS = 0.5;
const MAX_FORWARDS_SECONDS = 10;
/** By which the clock of a period may deviate that goes on from that of the one before. */
const MAX_DEVIATION_SECONDS = 0.02;
/** By which media of a period may be longer than the period: the frames that an encoder of audio adds. */
const MAX_OVERLAP_SECONDS = 0.1;
/** Fields that a subsegment of a further encoding has besides: the sample description of each track. */
const DESCRIPTION_BYTES = 8;

/**
 * @param isRounded the list tells durations in whole seconds
 * @throws UnsupportedMp4 when the segments make no file
 */
export function createTable(
  format: SegmentFormatName,
  segments: readonly ListedSegment[],
  isRounded = false,
): SegmentTable {
  if (segments.length === 0 || segments.length > MAX_SUBSEGMENTS) throw new UnsupportedMp4('No segments, or too many');
  const encodings = new Map(segments.map(({ facts: { encoding } }) => [describe(encoding), encoding]));
  if (encodings.size > MAX_ENCODINGS) throw new UnsupportedMp4('Too many encodings');
  if (isRounded && segments.length > 1 && segments.some(({ facts }) => facts.startTime === undefined))
    throw new UnsupportedMp4('Segments without times, whose durations are rounded');
  const names = [...encodings.keys()];
  const timescale = commonTimescale(
    [...encodings.values()].flatMap(({ tracks }) => tracks.map(({ timescale }) => timescale)),
  );
  const hasSets = needsSets([...encodings.values()]);
  const period = (segmentFormat(format).clockSeconds ?? Number.POSITIVE_INFINITY) * timescale;
  const [first] = segments;
  const toUnits = ({ encoding, mainKind }: SegmentFacts, time: number) =>
    Math.round((time * timescale) / (encoding.tracks.find(({ kind }) => kind === mainKind)?.timescale ?? timescale));
  const startTime = first ? toUnits(first.facts, first.facts.earliestTime) : 0;
  /** When the previous segment starts, on its own clock and in the file, and when it ends in the file. */
  let before = { clock: 0, time: 0, end: 0 };
  /** When the segment begins in the file by its list. */
  let listedTime = 0;
  /** Before the ends of these, others begin. */
  const cut = new Set<number>();
  const listed = segments.map((segment, index): TableEntry => {
    const { facts, segmentBytes, seconds, gapSeconds, isDiscontinuity, isTimedByList, isTold } = segment;
    const expected = before.end + Math.round(gapSeconds * timescale);
    const clock =
      facts.startTime === undefined ? before.clock + expected - before.time : toUnits(facts, facts.startTime);
    const continued = before.time + differenceOf(clock, before.clock, period);
    const ahead = (continued - expected) / timescale;
    const isContinued = isDiscontinuity
      ? isTimedByList && Math.abs(ahead) < MAX_DEVIATION_SECONDS
      : ahead > -MAX_BACKWARDS_SECONDS - seconds / 2 && ahead < MAX_FORWARDS_SECONDS;
    const isOnTime = isTimedByList && expected - listedTime < MAX_OVERLAP_SECONDS * timescale;
    const time = index === 0 ? clock : isContinued ? continued : isOnTime ? Math.round(listedTime) : expected;
    if (isOnTime && time < expected) cut.add(index - 1);
    listedTime = (index === 0 ? time : listedTime) + (gapSeconds + seconds) * timescale;
    const length = facts.endTime === undefined ? seconds * timescale : toUnits(facts, facts.endTime) - clock;
    before = { clock, time, end: time + Math.max(0, Math.round(length)) };
    const encoding = names.indexOf(describe(facts.encoding));
    const added = encoding > 0 ? DESCRIPTION_BYTES : 0;
    const moved = index === 0 ? (facts.movedBytes ?? 0) : 0;
    const sets = hasSets ? (facts.setBytes ?? 0) : 0;
    const bytes = facts.maxBytes + added + moved + sets;
    const audioBytes = facts.audioBytes === undefined ? undefined : facts.audioBytes + added;
    if (bytes > MAX_SUBSEGMENT_BYTES) throw new UnsupportedMp4('A segment is too large');
    const isTimed = isTold || facts.startTime !== undefined;
    const { startsWithSync } = facts;
    return { segmentBytes, bytes, audioBytes, time, clock: isTimed ? clock : undefined, startsWithSync, encoding };
  });
  // Samples that are decoded at other times need more bytes.
  const entries = listed.map((entry, index) => {
    const { movedBytes = 0, mainKind } = segments[index]?.facts ?? {};
    if (!cut.has(index)) return entry;
    const audioBytes = entry.audioBytes && entry.audioBytes + (mainKind === 'soun' ? movedBytes : 0);
    return { ...entry, bytes: entry.bytes + movedBytes, audioBytes };
  });
  return { format, encodings: [...encodings.values()], timescale, startTime, endTime: before.end, entries };
}

/** The sample entries of a kind of track, each once, in the order of the encodings. */
export const entriesOf = (encodings: readonly Encoding[], kind: HandlerType): readonly Buffer[] =>
  encodings
    .flatMap(({ tracks }) => tracks.filter((track) => track.kind === kind).map(({ sampleEntry }) => sampleEntry))
    .filter((entry, index, all) => all.findIndex((other) => other.equals(entry)) === index);

/**
 * Whether access points need the parameter sets of their encoding: libavformat and Firefox apply no further sample description in fragments.
 * They help where samples have the same form otherwise.
 */
export function needsSets(encodings: readonly Encoding[]): boolean {
  const [first, ...others] = entriesOf(encodings, 'vide').map(readParameterSets);
  const isSame = (sets: typeof first) => sets?.codec === first?.codec && sets?.lengthBytes === first?.lengthBytes;
  return others.length > 0 && others.every(isSame);
}

const described = new WeakMap<Encoding, string>();

/** Equal for two encodings that are the same. */
function describe(encoding: Encoding): string {
  const known = described.get(encoding);
  if (known !== undefined) return known;
  const { tracks, state } = encoding;
  const parts = tracks.flatMap(({ kind, timescale, sampleEntry }) => [kind, timescale, sampleEntry.toString('base64')]);
  const text = [state.toString('base64'), ...parts].join(' ');
  described.set(encoding, text);
  return text;
}

/** How far a time lies behind another one of a clock that begins again after `period`. */
export function differenceOf(time: number, before: number, period: number): number {
  const difference = time - before;
  // A period need not be a whole number of units.
  return Number.isFinite(period) ? difference - Math.round(Math.round(difference / period) * period) : difference;
}

/** When the first sample is shown or heard, on the clock of the first segment. */
export const startSecondsOf = ({ startTime, timescale }: SegmentTable): number => startTime / timescale;

/** The kinds of tracks of a table, the main one first. */
export const kindsOf = ({ encodings, kinds = ['vide', 'soun'] }: SegmentTable): readonly HandlerType[] =>
  kinds.filter((kind) => encodings.some(({ tracks }) => tracks.some((track) => track.kind === kind)));

/** The table of the audio alone, in its own time scale. Undefined: it has none, or its sizes are not known. */
export function audioTable(table: SegmentTable): SegmentTable | undefined {
  if (!kindsOf(table).includes('soun')) return undefined;
  const timescale = commonTimescale(
    table.encodings.flatMap(({ tracks }) =>
      tracks.flatMap(({ kind, timescale }) => (kind === 'soun' ? timescale : [])),
    ),
  );
  const toUnits = (time: number) => Math.round((time * timescale) / table.timescale);
  const entries = table.entries.flatMap(({ audioBytes, time, clock, ...entry }) => {
    const times = { time: toUnits(time), clock: clock === undefined ? undefined : toUnits(clock) };
    return audioBytes === undefined ? [] : [{ ...entry, ...times, bytes: audioBytes, startsWithSync: true }];
  });
  if (entries.length < table.entries.length) return undefined;
  const [startTime, endTime] = [toUnits(table.startTime), toUnits(table.endTime)];
  return { ...table, timescale, startTime, endTime, kinds: ['soun'], entries };
}
