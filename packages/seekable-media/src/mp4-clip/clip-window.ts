import { type Sample, type TrackHeader, UnsupportedMp4 } from '../isobmff/index.ts';
import type { Span } from '../parts/skipping.ts';
import type { Layout, SourceIndex } from '../virtual-mp4/index.ts';

/** 1.0 in 16.16 fixed point. */
const NORMAL_RATE = 0x1_0000;
/** `media_time` of an empty edit: a delay. */
const EMPTY = -1n;

/** The layout of a clip, and the part of the presentation that it shows. */
export interface ClipLayout extends Layout, Span {}

/** A track to clip. */
export interface ClipTrack {
  readonly header: TrackHeader;
  /** The file that has the samples. */
  readonly source: SourceIndex;
  readonly fileBytes: number;
  /**
   * The samples that the clip may need, in decode order; can be iterated any number of times. A sample is valid until
   * the next one is requested.
   */
  readonly samples: () => Iterable<Sample>;
}

/** The samples of a track that a part of a presentation has. Times in units of the media, counted as decode times are. */
export interface ClipWindow {
  readonly track: ClipTrack;
  /** Positions in `track.samples`, both included. */
  readonly first: number;
  readonly last: number;
  /** Decode time of the first sample. */
  readonly decodeTime: number;
  /** Composition time at which the presentation starts. */
  readonly startTime: number;
  /** Added to composition offsets, so that none is negative. */
  readonly compositionShift: number;
  /** Where it starts in the presentation. */
  readonly startSeconds: number;
  /** Seconds from there to the first sample that is presented. */
  readonly delaySeconds: number;
  /** Seconds that the track is presented, after the delay. */
  readonly durationSeconds: number;
}

/** Seconds of audio before the start that a decoder needs to produce it: 80 ms for Opus, one frame for AAC. */
const AUDIO_PREROLL_SECONDS = 0.08;
/** Maximum by which a composition time exceeds the decode time: the scan stops this long after the end of the clip. */
const MAX_REORDER_SECONDS = 8;

/**
 * The video of each part: from the last sync sample at or before the start. The presentation starts with the frame that is
 * shown at the start. Undefined when no frame is shown in it.
 * @param parts in order
 * @param isFromKeyframe it starts with the sync sample itself, which is earlier
 * @throws UnsupportedMp4 when there is no sync sample before the start
 */
export function findVideoWindows(
  track: ClipTrack,
  parts: readonly Span[],
  isFromKeyframe = false,
): readonly (ClipWindow | undefined)[] {
  return scanTrack(track, parts).map((scan) => {
    const { shift, startSeconds, endSeconds } = scan;
    const shown = scan.lastBefore?.time;
    if (shown !== undefined && scan.sync === undefined) throw new UnsupportedMp4('No keyframe at or before the start');
    // Before the first frame, the first one is shown once it is due.
    const first = scan.sync ?? scan.firstSync;
    if (!first || scan.last < first.index || scan.trackEndSeconds <= startSeconds) return undefined;
    const start = isFromKeyframe ? first.time : (shown ?? first.time);
    const shownSeconds = shown === undefined ? startSeconds : start / track.header.timescale + shift;
    return toWindow(track, scan, { first, start, startSeconds: shownSeconds, endSeconds });
  });
}

/**
 * The audio of each part, cut at the sample; of the first one with what decoders need before it. Undefined when there is none.
 * @param parts in order
 * @throws UnsupportedMp4
 */
export function findAudioWindows(track: ClipTrack, parts: readonly Span[]): readonly (ClipWindow | undefined)[] {
  const { header } = track;
  // Before 0 lies the priming of the encoder, where an edit list hides it.
  const prerolled = parts.map((part, index) =>
    index === 0 ? { ...part, startSeconds: part.startSeconds - AUDIO_PREROLL_SECONDS } : part,
  );
  return scanTrack(track, prerolled).map((scan, index) => {
    const { startSeconds = 0 } = parts[index] ?? {};
    const first = scan.lastBefore ?? scan.firstSync;
    if (!first || scan.last < first.index || scan.trackEndSeconds <= startSeconds) return undefined;
    const wanted = Math.round((startSeconds - scan.shift) * header.timescale);
    const start = Math.max(wanted, first.time);
    return toWindow(track, scan, { first, start, startSeconds, endSeconds: scan.endSeconds });
  });
}

/**
 * Parts with their cuts moved to the nearest packet of the audio, which is copied whole. The start of the first part and
 * the end of the last one stay.
 */
export function alignToPackets(track: ClipTrack, parts: readonly Span[]): readonly Span[] {
  const { timescale } = track.header;
  const { shiftSeconds } = parsePresentationTime(track.header);
  const cuts = parts.flatMap(({ startSeconds, endSeconds }) => [startSeconds, endSeconds]).slice(1, -1);
  const aligned: number[] = [];
  let before = Number.NEGATIVE_INFINITY;
  const alignUntil = (at: number) => {
    for (let cut = cuts[aligned.length]; cut !== undefined && cut <= at; cut = cuts[aligned.length])
      aligned.push(cut - before <= at - cut ? before : at);
    before = at;
  };
  for (const { decodeTime, compositionOffset } of track.samples()) {
    if (aligned.length === cuts.length) break;
    alignUntil((decodeTime + compositionOffset) / timescale + shiftSeconds);
  }
  // Behind the last packet there is nothing to align with.
  const edges = [parts[0]?.startSeconds, ...cuts.map((cut, index) => aligned[index] ?? cut), parts.at(-1)?.endSeconds];
  return parts
    .map((_, index) => ({ startSeconds: edges[2 * index] ?? 0, endSeconds: edges[2 * index + 1] ?? 0 }))
    .filter(({ startSeconds, endSeconds }) => startSeconds < endSeconds);
}

/** The samples of the windows of one track, each once. */
export function* samplesOf(windows: readonly ClipWindow[]): Generator<Sample> {
  let [index, next] = [-1, 0];
  for (const sample of windows[0]?.track.samples() ?? []) {
    index += 1;
    while (index > (windows[next]?.last ?? Number.POSITIVE_INFINITY)) next += 1;
    const window = windows[next];
    if (!window) return;
    if (index >= window.first) yield sample;
  }
}

interface Position {
  readonly index: number;
  readonly decodeTime: number;
  /** Composition time. */
  readonly time: number;
}

/** What the samples of a track say of a part. */
interface Found {
  /** The last sync sample at or before the start; undefined: there is none. */
  sync: Position | undefined;
  firstSync: Position | undefined;
  /** The sample that is presented at the start. */
  lastBefore: Position | undefined;
  /** The last sample in decode order that is presented before the end; -1: none. */
  last: number;
  /** The lowest composition offset. */
  minOffset: number;
  /** Where the samples end, in composition time. */
  mediaEnd: number;
}

interface Scan extends Found, Span {
  /** Seconds to add to composition times. */
  readonly shift: number;
  /** Where the samples or the edit list end, in seconds of the presentation. */
  readonly trackEndSeconds: number;
}

/** Reads the samples once for all parts, which are in order. */
function scanTrack({ header, fileBytes, samples }: ClipTrack, parts: readonly Span[]): readonly Scan[] {
  const { timescale } = header;
  const { shiftSeconds: shift, endSeconds: editEnd } = parsePresentationTime(header);
  const toTime = (seconds: number) => Math.round((seconds - shift) * timescale);
  const limits = parts.map(({ startSeconds, endSeconds }) => {
    const endTime = toTime(Math.min(endSeconds, editEnd));
    return { startTime: toTime(startSeconds), endTime, stopTime: endTime + MAX_REORDER_SECONDS * timescale };
  });
  /** For parts that begin after all samples so far. */
  const ahead: Found = {
    sync: undefined,
    firstSync: undefined,
    lastBefore: undefined,
    last: -1,
    minOffset: 0,
    mediaEnd: Number.NEGATIVE_INFINITY,
  };
  const begun: Found[] = [];
  let [index, ended] = [-1, 0];
  for (const sample of samples()) {
    index += 1;
    const { decodeTime, compositionOffset } = sample;
    const position = { index, decodeTime, time: decodeTime + compositionOffset };
    while (position.time > (limits[begun.length]?.startTime ?? Number.POSITIVE_INFINITY)) begun.push({ ...ahead });
    while (ended < begun.length && decodeTime > (limits[ended]?.stopTime ?? 0)) ended += 1;
    if (ended === limits.length) break;
    if (!(sample.offset >= 0 && sample.offset + sample.size <= fileBytes)) {
      throw new Error('The file ends before what its header describes');
    }
    for (let at = ended; at < begun.length; at += 1) addSample(begun[at], position, sample, limits[at]);
    addSample(ahead, position, sample);
  }
  return parts.map((part, at) => {
    const found = begun[at] ?? ahead;
    return { ...part, ...found, shift, trackEndSeconds: Math.min(editEnd, found.mediaEnd / timescale + shift) };
  });
}

/** @param limits of the part. @default behind the sample */
function addSample(
  found: Found | undefined,
  position: Position,
  { duration, compositionOffset, isSync }: Sample,
  { startTime, endTime } = { startTime: Number.POSITIVE_INFINITY, endTime: Number.POSITIVE_INFINITY },
): void {
  if (!found) return;
  const { index, time } = position;
  if (isSync) found.firstSync ??= position;
  if (time <= startTime) {
    if (isSync) found.sync = position;
    if (!found.lastBefore || time >= found.lastBefore.time) found.lastBefore = position;
  }
  if (time < endTime) found.last = index;
  found.minOffset = Math.min(found.minOffset, compositionOffset);
  found.mediaEnd = Math.max(found.mediaEnd, time + duration);
}

interface WindowStart extends Span {
  /** The first sample that the part has. */
  readonly first: Position;
  /** Composition time at which the part starts. */
  readonly start: number;
}

function toWindow(
  track: ClipTrack,
  { last, minOffset, shift, trackEndSeconds }: Scan,
  { first, start, startSeconds, endSeconds }: WindowStart,
): ClipWindow {
  const delaySeconds = Math.max(0, start / track.header.timescale + shift - startSeconds);
  return {
    track,
    first: first.index,
    last,
    decodeTime: first.decodeTime,
    startTime: start,
    compositionShift: -minOffset,
    startSeconds,
    delaySeconds,
    durationSeconds: Math.min(endSeconds, trackEndSeconds) - startSeconds - delaySeconds,
  };
}

/** How a track's media times relate to the times that a player shows. Seconds. */
export interface PresentationTime {
  /** Added to the composition time of a sample. */
  readonly shiftSeconds: number;
  /** Where the edit list ends the presentation; infinite where it does not. */
  readonly endSeconds: number;
}

/**
 * The presentation times of a track by its edit list (ISO/IEC 14496-12 §8.6.6): any delay, then one edit at normal rate.
 * @throws UnsupportedMp4 when the edit list has more
 */
export function parsePresentationTime({
  edits,
  movieTimescale,
  timescale,
  fragmentDefaults,
}: TrackHeader): PresentationTime {
  const first = edits.findIndex(({ mediaTime }) => mediaTime !== EMPTY);
  const delays = first < 0 ? edits : edits.slice(0, first);
  const delaySeconds = delays.reduce((sum, { duration }) => sum + duration, 0) / movieTimescale;
  const [edit, ...more] = first < 0 ? [] : edits.slice(first);
  if (!edit) return { shiftSeconds: delaySeconds, endSeconds: Number.POSITIVE_INFINITY };
  if (more.length > 0 || edit.rate !== NORMAL_RATE || edit.mediaTime < 0n) {
    throw new UnsupportedMp4('An edit list with several edits');
  }
  // In fragmented files the duration is that of the samples in `moov`: none.
  const isWhole = edit.duration === 0 || fragmentDefaults !== undefined;
  return {
    shiftSeconds: delaySeconds - Number(edit.mediaTime) / timescale,
    endSeconds: isWhole ? Number.POSITIVE_INFINITY : delaySeconds + edit.duration / movieTimescale,
  };
}
