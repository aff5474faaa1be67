import { UnsupportedMp4 } from '../isobmff/index.ts';
import { firstBlock } from './blocks.ts';
import { Children, type Element, ID, readElement, readUnsigned } from './ebml.ts';
import { type CodecTrack, describeTrack } from './sample-entries.ts';

/** What was read of a file. */
export interface WebmParts {
  readonly fileBytes: number;
  /** Its first bytes. */
  readonly head: Buffer;
  /** What was read of `NeededCues`. */
  readonly cues?: { readonly bytes: Buffer; readonly first: number };
}

/** The cues are elsewhere. Offsets in the file, both included. */
export interface NeededCues {
  readonly first: number;
  readonly last: number;
}

/** A file by its header and its cues. Times in units of the file. */
export interface WebmFile {
  /** Nanoseconds. */
  readonly unitNs: number;
  readonly duration: number;
  /** The one that the cues are of first. */
  readonly tracks: readonly WebmTrack[];
  /** In the order of the file. */
  readonly spans: readonly CueSpan[];
}

export interface WebmTrack extends CodecTrack {
  readonly number: number;
  /** Nanoseconds by which it is shown earlier than its times say. */
  readonly delayNs: number;
  /** Nanoseconds of a frame. Absent: unknown. */
  readonly frameNs?: number;
  /** Blocks have several frames, as far as is known. */
  readonly isLaced: boolean;
}

/** Whole clusters from a cue to the next one. Offsets in the file, `end` excluded. */
interface CueSpan {
  readonly time: number;
  readonly start: number;
  readonly end: number;
}

const MAX_CUES_BYTES = 2 * 1024 * 1024;
/** Behind cues: the first frame of the first cluster. */
const BEHIND_CUES_BYTES = 4096;
/** By which what is before the first frame may be longer in later clusters. */
const HEADER_GROWTH_BYTES = 16;
const DEFAULT_UNIT_NS = 1_000_000;
const SECOND_NS = 1e9;
const KINDS = new Map([
  [1, 'vide'],
  [2, 'soun'],
]);

/**
 * Reads the first bytes of a Matroska file, and its cues.
 * @throws UnsupportedMp4 when these do not say where all of its media is
 */
export function readWebmFile({ head, fileBytes, cues: read }: WebmParts): WebmFile | NeededCues {
  const ebml = readElement(head, 0);
  if (ebml?.id !== ID.ebml || !/^(?:webm|matroska)$/.test(new Children(head, ebml).text(ID.docType) ?? ''))
    throw new UnsupportedMp4('Not a Matroska file');
  const segment = readElement(head, ebml.end);
  if (segment?.id !== ID.segment || segment.end > fileBytes) throw new UnsupportedMp4('A truncated file');
  const top = readTop(head, segment);
  const info = wholeOf(head, top.get(ID.info));
  const entries = wholeOf(head, top.get(ID.tracks)).each(ID.trackEntry);
  const listed = top.get(ID.cues);
  const cues =
    read ??
    (listed && listed.end <= head.length ? { bytes: head.subarray(listed.start), first: listed.start } : undefined);
  if (!cues) return findCues(head, { segment, top, fileBytes });

  const element = readElement(cues.bytes, 0);
  if (element?.id !== ID.cues) throw new UnsupportedMp4('No cues where they should be');
  const cueEnd = cues.first + element.end;
  const cluster = top.get(ID.cluster)?.start ?? cueEnd;
  const media = cluster === cueEnd ? cues.bytes.subarray(element.end) : head.subarray(cluster);
  const main = entries.find((entry) => kindOf(entry) === 'vide') ?? entries.find((entry) => kindOf(entry) === 'soun');
  const number = main?.unsigned(ID.trackNumber);
  const first = firstBlock(media, number);
  if (!first) throw new UnsupportedMp4('No frame in what was read');
  const spans = readSpans(new Children(cues.bytes, element), number, {
    offset: segment.content,
    end: cues.first > cluster ? cues.first : segment.end,
    isSound: kindOf(main) === 'soun',
  });
  const [start] = spans;
  if (start?.start !== cluster || first.time !== start.time || !first.isSync)
    throw new UnsupportedMp4('Cues that do not name the first frame');
  const others = entries.filter((entry) => entry !== main && kindOf(main) === 'vide' && kindOf(entry) === 'soun');
  const isLaced = (entry: Children) =>
    entry.unsigned(ID.flagLacing) !== 0 && firstBlock(media, entry.unsigned(ID.trackNumber))?.frames.length !== 1;
  const tracks = [main, ...others.slice(0, 1)].flatMap((entry) =>
    entry ? [{ ...readTrack(entry, first.frames[0] ?? Buffer.alloc(0)), isLaced: isLaced(entry) }] : [],
  );
  return { ...readTimes(info, spans), tracks, spans };
}

/** The elements of a segment up to its first cluster, the first of each id, as far as their headers are there. */
function readTop(head: Buffer, { content, end }: Element): ReadonlyMap<number, Element> {
  const top = new Map<number, Element>();
  for (let at = content; at < Math.min(end, head.length); ) {
    const element = readElement(head, at);
    if (!element) break;
    if (!top.has(element.id)) top.set(element.id, element);
    if (element.id === ID.cluster) break;
    at = element.end;
  }
  return top;
}

function wholeOf(head: Buffer, element: Element | undefined): Children {
  if (!element) throw new UnsupportedMp4('A file without a header');
  return new Children(head, element);
}

interface Found {
  readonly segment: Element;
  readonly top: ReadonlyMap<number, Element>;
  readonly fileBytes: number;
}

function findCues(head: Buffer, { segment, top, fileBytes }: Found): NeededCues {
  const listed = top.get(ID.cues);
  const seeks = top.has(ID.seekHead) ? wholeOf(head, top.get(ID.seekHead)).each(ID.seek) : [];
  const position = seeks
    .find((seek) => readUnsigned(seek.bytes(ID.seekId) ?? Buffer.alloc(0)) === ID.cues)
    ?.unsigned(ID.seekPosition);
  const first = listed?.start ?? (position === undefined ? fileBytes : segment.content + position);
  if (first >= fileBytes) throw new UnsupportedMp4('No cues');
  const end = listed ? listed.end + BEHIND_CUES_BYTES : first + MAX_CUES_BYTES;
  if (end - first > MAX_CUES_BYTES + BEHIND_CUES_BYTES) throw new UnsupportedMp4('Too many cues');
  return { first, last: Math.min(end, fileBytes) - 1 };
}

const kindOf = (entry: Children | undefined): string | undefined => KINDS.get(entry?.unsigned(ID.trackType) ?? 0);

/** @throws UnsupportedMp4 when the cues of the track are not in the order of the file */
function readSpans(
  cues: Children,
  track: number | undefined,
  { offset, end, isSound }: { readonly offset: number; readonly end: number; readonly isSound: boolean },
): readonly CueSpan[] {
  const points: { readonly time: number; readonly start: number }[] = [];
  let firstRelative: number | undefined;
  for (const point of cues.each(ID.cuePoint)) {
    const position = point.each(ID.cueTrackPositions).find((each) => each.unsigned(ID.cueTrack) === track);
    if (!position) continue;
    const time = point.unsigned(ID.cueTime) ?? 0;
    const start = offset + (position.unsigned(ID.cueClusterPosition) ?? end);
    const before = points.at(-1);
    const relative = position.unsigned(ID.cueRelativePosition) ?? 0;
    firstRelative ??= relative;
    // Frames of sound within a cluster, whose first one is of another time: mkvmerge names one each half second.
    if (isSound && relative > firstRelative + HEADER_GROWTH_BYTES) continue;
    // Further keyframes of a cluster.
    if (before?.start === start) continue;
    if (start >= end || (before && (start < before.start || time <= before.time)))
      throw new UnsupportedMp4('Cues that are out of order');
    points.push({ time, start });
  }
  return points.map((point, index) => ({ ...point, end: points[index + 1]?.start ?? end }));
}

function readTrack(entry: Children, firstFrame: Buffer): Omit<WebmTrack, 'isLaced'> {
  const scale = entry.float(ID.trackTimestampScale) ?? 1;
  if (entry.has(ID.contentEncodings) || scale !== 1)
    throw new UnsupportedMp4('Frames that are compressed or encrypted');
  const frameNs = entry.unsigned(ID.defaultDuration);
  const delayNs = entry.unsigned(ID.codecDelay) ?? 0;
  if (delayNs > SECOND_NS) throw new UnsupportedMp4('A delay of more than a second');
  return {
    ...describeTrack(entry, firstFrame),
    number: entry.unsigned(ID.trackNumber) ?? 0,
    delayNs,
    ...(frameNs && { frameNs }),
  };
}

function readTimes(info: Children, spans: readonly CueSpan[]): Pick<WebmFile, 'unitNs' | 'duration'> {
  const unitNs = info.unsigned(ID.timestampScale) ?? DEFAULT_UNIT_NS;
  const duration = Math.round(info.float(ID.duration) ?? Number.NaN);
  if (!(duration > (spans.at(-1)?.time ?? 0)))
    throw new UnsupportedMp4('No duration, or one that ends before the cues');
  if (unitNs === 0 || unitNs > SECOND_NS) throw new UnsupportedMp4('Times of another scale');
  return { unitNs, duration };
}
