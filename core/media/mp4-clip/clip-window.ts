import { type Sample, type TrackHeader, UnsupportedMp4 } from '../isobmff/index.ts';
import type { Span } from '../skipping/index.ts';
import type { SourceIndex } from '../virtual-mp4/index.ts';

/** 1.0 in 16.16 fixed point. */
const NORMAL_RATE = 0x1_0000;
/** `media_time` of an empty edit: a delay. */
const EMPTY = -1n;

/** A track to clip. */
export interface ClipTrack {
  readonly header: TrackHeader;
  /** The file that has the samples. */
  readonly source: SourceIndex;
  /** Bytes of that file. */
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
 * The video of a part: from the last sync sample at or before the start. The presentation starts with the frame that is
 * shown at the start. Undefined when no frame is shown in it.
 * @param isFromKeyframe it starts with the sync sample itself, which is earlier
 * @throws UnsupportedMp4 when there is no sync sample before the start
 */
export function findVideoWindow(track: ClipTrack, times: Span, isFromKeyframe = false): ClipWindow | undefined {
  const scan = scanTrack(track, times);
  const { shown, shift } = scan;
  if (shown && scan.sync === undefined) throw new UnsupportedMp4('No keyframe at or before the start');
  // Before the first frame, the first one is shown once it is due.
  const first = scan.sync ?? scan.firstSync;
  if (!first || scan.last < first.index || scan.endSeconds <= times.startSeconds) return undefined;
  const start = isFromKeyframe ? first.time : (shown ?? first.time);
  const startSeconds = shown === undefined ? times.startSeconds : start / track.header.timescale + shift;
  return toWindow(track, scan, { first, start, startSeconds, endSeconds: times.endSeconds });
}

/**
 * The audio of a part, cut at the sample. Undefined when there is none.
 * @param hasPreroll with what decoders need before it
 * @throws UnsupportedMp4
 */
export function findAudioWindow(track: ClipTrack, times: Span, hasPreroll = true): ClipWindow | undefined {
  const { header } = track;
  // Before 0 lies the priming of the encoder, where an edit list hides it.
  const prerolled = { ...times, startSeconds: times.startSeconds - (hasPreroll ? AUDIO_PREROLL_SECONDS : 0) };
  const scan = scanTrack(track, prerolled);
  const first = scan.lastBefore ?? scan.firstSync;
  if (!first || scan.last < first.index || scan.endSeconds <= times.startSeconds) return undefined;
  const wanted = Math.round((times.startSeconds - scan.shift) * header.timescale);
  const start = Math.max(wanted, first.time);
  return toWindow(track, scan, { first, start, ...times });
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

interface Scan {
  /** Seconds to add to composition times. */
  readonly shift: number;
  /** The last sync sample at or before the start; undefined: there is none. */
  readonly sync: Position | undefined;
  readonly firstSync: Position | undefined;
  /** The last sample in decode order at or before the start. */
  readonly lastBefore: Position | undefined;
  /** Composition time of the sample that is presented at the start. */
  readonly shown: number | undefined;
  /** The last sample in decode order that is presented before the end; -1: none. */
  readonly last: number;
  /** The lowest composition offset. */
  readonly minOffset: number;
  /** Where the samples or the edit list end, in seconds of the presentation. */
  readonly endSeconds: number;
}

function scanTrack({ header, fileBytes, samples }: ClipTrack, times: Span): Scan {
  const { timescale } = header;
  const { shiftSeconds: shift, endSeconds: editEnd } = parsePresentationTime(header);
  const startTime = Math.round((times.startSeconds - shift) * timescale);
  const endTime = Math.round((Math.min(times.endSeconds, editEnd) - shift) * timescale);
  const stopTime = endTime + MAX_REORDER_SECONDS * timescale;
  let [sync, firstSync, lastBefore]: (Position | undefined)[] = [];
  let shown: number | undefined;
  let [index, last, minOffset, mediaEnd] = [-1, -1, 0, Number.NEGATIVE_INFINITY];
  for (const sample of samples()) {
    index += 1;
    const { decodeTime, duration, compositionOffset, isSync } = sample;
    if (decodeTime > stopTime) break;
    if (!(sample.offset >= 0 && sample.offset + sample.size <= fileBytes)) {
      throw new Error('The file ends before what its header describes');
    }
    const time = decodeTime + compositionOffset;
    const position = { index, decodeTime, time };
    if (isSync) firstSync ??= position;
    if (time <= startTime) {
      if (isSync) sync = position;
      if (lastBefore === undefined || time >= lastBefore.time) lastBefore = position;
      shown = Math.max(shown ?? time, time);
    }
    if (time < endTime) last = index;
    minOffset = Math.min(minOffset, compositionOffset);
    mediaEnd = Math.max(mediaEnd, time + duration);
  }
  return {
    shift,
    sync,
    firstSync,
    lastBefore,
    shown,
    last,
    minOffset,
    endSeconds: Math.min(editEnd, mediaEnd / timescale + shift),
  };
}

interface WindowStart extends Span {
  /** The first sample that the part has. */
  readonly first: Position;
  /** Composition time at which the part starts. */
  readonly start: number;
}

function toWindow(
  track: ClipTrack,
  { last, minOffset, shift, endSeconds: scanEnd }: Scan,
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
    durationSeconds: Math.min(endSeconds, scanEnd) - startSeconds - delaySeconds,
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
