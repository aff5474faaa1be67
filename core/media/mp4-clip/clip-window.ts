import { type Sample, type TrackHeader, UnsupportedMp4 } from '../isobmff/index.ts';
import type { SourceIndex } from '../virtual-mp4/index.ts';

/** 1.0 in 16.16 fixed point. */
const NORMAL_RATE = 0x1_0000;
/** `media_time` of an empty edit: a delay. */
const EMPTY = -1n;

/** Presentation times of a clip in seconds; `endSeconds` may be infinite: to the end. */
export interface ClipTimes {
  readonly startSeconds: number;
  readonly endSeconds: number;
}

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

/** The samples of a track that a clip has. Times in units of the media, counted as decode times are. */
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
  /** Seconds from the start of the clip to the first sample that is presented. */
  readonly delaySeconds: number;
  /** Seconds that the track is presented, after the delay. */
  readonly durationSeconds: number;
}

/** Seconds of audio before the start that a decoder needs to produce it: 80 ms for Opus, one frame for AAC. */
const AUDIO_PREROLL_SECONDS = 0.08;
/** Maximum by which a composition time exceeds the decode time: the scan stops this long after the end of the clip. */
const MAX_REORDER_SECONDS = 8;

/**
 * The video of a clip: from the last sync sample at or before the start. The presentation starts with the frame that is
 * shown at the start.
 * @param isFromKeyframe it starts with the sync sample itself, which is earlier
 * @throws UnsupportedMp4 when no frame is shown between start and end, or there is no sync sample before it
 */
export function findVideoWindow(
  track: ClipTrack,
  times: ClipTimes,
  isFromKeyframe = false,
): ClipWindow & { readonly startSeconds: number } {
  const scan = scanTrack(track, times);
  const { shown, shift } = scan;
  if (shown && scan.sync === undefined) throw new UnsupportedMp4('No keyframe at or before the start');
  // Before the first frame, the first one is shown once it is due.
  const first = scan.sync ?? scan.firstSync;
  if (!first || scan.last < first.index) throw new UnsupportedMp4('Nothing is shown between start and end');
  const { timescale } = track.header;
  const start = isFromKeyframe ? first.time : (shown ?? first.time);
  const startSeconds = shown === undefined ? times.startSeconds : start / timescale + shift;
  if (scan.endSeconds <= times.startSeconds) throw new UnsupportedMp4('Nothing is shown between start and end');
  return { ...toWindow(track, scan, { first, start, startSeconds, endSeconds: times.endSeconds }), startSeconds };
}

/**
 * The audio of a clip, cut at the sample: decoders get what they need before it. Undefined when there is none.
 * @throws UnsupportedMp4
 */
export function findAudioWindow(track: ClipTrack, times: ClipTimes): ClipWindow | undefined {
  const { header } = track;
  // Before 0 lies the priming of the encoder, where an edit list hides it.
  const prerolled = { ...times, startSeconds: times.startSeconds - AUDIO_PREROLL_SECONDS };
  const scan = scanTrack(track, prerolled);
  const first = scan.lastBefore ?? scan.firstSync;
  if (!first || scan.last < first.index || scan.endSeconds <= times.startSeconds) return undefined;
  const wanted = Math.round((times.startSeconds - scan.shift) * header.timescale);
  const start = Math.max(wanted, first.time);
  return toWindow(track, scan, { first, start, ...times });
}

/** The samples of a window. */
export function* samplesOf({ track, first, last }: ClipWindow): Generator<Sample> {
  let index = -1;
  for (const sample of track.samples()) {
    index += 1;
    if (index > last) return;
    if (index >= first) yield sample;
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

function scanTrack({ header, fileBytes, samples }: ClipTrack, times: ClipTimes): Scan {
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

interface WindowStart extends ClipTimes {
  /** The first sample that the clip has. */
  readonly first: Position;
  /** Composition time at which the presentation starts. */
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
