import {
  box,
  type Edit,
  fullBox,
  integers,
  LARGE_BOX_HEADER_BYTES,
  type OutputTrack,
  type Sample,
  UnsupportedMp4,
  u32,
  writeMovie,
} from '../isobmff/index.ts';
import { type ClipTimes, keptParts, type Span } from '../parts/skipping.ts';
import { type TextTrack, textTables } from '../text/text-track.ts';
import {
  addMedia,
  bytesOf,
  interleave,
  LayoutBuilder,
  type LayoutExtras,
  MAX_CHUNK_BYTES,
  MAX_CHUNK_SECONDS,
  nameSounds,
  type Placed,
  PROGRESSIVE_FILE_TYPE,
  placeText,
  type SampleChunk,
  sampleToChunk,
  textTracks,
} from '../virtual-mp4/index.ts';
import {
  alignToPackets,
  type ClipLayout,
  type ClipTrack,
  type ClipWindow,
  findAudioWindows,
  findVideoWindows,
  samplesOf,
} from './clip-window.ts';
import { copyTiming, hasHiddenFrames, type SampleTiming, timeParts } from './sample-timing.ts';

interface ClipTracks {
  readonly video?: ClipTrack;
  readonly audio?: readonly ClipTrack[];
}

export interface ClipOptions extends LayoutExtras {
  /** The file of audio alone: MP4 by another name, or Ogg, for which its `tags` are written. @default MP4 */
  readonly container?: 'm4a' | 'opus';
  /** Starts with the last keyframe at or before the start, instead of the frame at the start. @default false */
  readonly isFromKeyframe?: boolean;
}

/** Major brand `M4A `, as iTunes and its devices expect it. */
const AUDIO_FILE_TYPE = box('ftyp', Buffer.from('M4A \0\0\x02\0M4A isomiso2mp41', 'latin1'));
/** Units per second of `mvhd`: edit durations are exact for all usual rates of frames and samples. */
const MOVIE_TIMESCALE = 90_000;
const NORMAL_RATE = 0x1_0000;
const EMPTY = -1n;

/**
 * The layout of a part of a presentation: a file with sample tables in front, whatever the sources are. Samples are
 * copied: the video from the sync sample before the start, the audio from the packet that the decoder needs. An edit
 * list has players show it from the frame at the start, with the audio of that moment. Of what is left out between, only
 * the video from the sync sample before the end of it stays, which is shown for no time.
 * @param sources the video, and audio of which players play the first by itself
 * @throws UnsupportedMp4 when nothing is presented between start and end, and Error when a file is truncated
 */
export function layOutClip(sources: ClipTracks, times: ClipTimes, options: ClipOptions = {}): ClipLayout {
  const parts = findParts(sources, times, options);
  const [firstPart, lastPart] = [parts[0], parts.at(-1)];
  if (!firstPart || !lastPart)
    throw new UnsupportedMp4(`Nothing is ${sources.video ? 'shown' : 'heard'} between start and end`);

  const { startSeconds } = firstPart;
  const seconds = lastPart.outputSeconds + lastPart.seconds;
  const { video, audio = [] } = sources;
  const heard = audio.map((_, index) => clipTrack(parts, (part) => part.audio[index]));
  const tracks = [video && clipTrack(parts, (part) => part.video, true), ...heard].filter((each) => each !== undefined);
  const texts = textTracks(options, seconds, parts);
  const chunked = tracks.map(({ track, tables }) => ({ source: track.source, chunks: tables.chunks }));
  const order = placeText(interleave(chunked), texts, { startSeconds, firstTrack: tracks.length });
  const layout = new LayoutBuilder();
  // A dub may end before the clip begins.
  const sounds = options.sounds?.filter((_, index) => heard[index]);
  const header = (mediaStart: number) => writeFileHeader({ tracks, texts, order, mediaStart }, { ...options, sounds });
  const mediaStart = header(0).length + LARGE_BOX_HEADER_BYTES;
  layout.addOwn(header(mediaStart));
  addMedia(layout, order);
  const built = layout.build(lastPart.outputSeconds + lastPart.seconds);
  return { ...built, startSeconds, endSeconds: lastPart.startSeconds + lastPart.seconds };
}

/** A part that is kept, with its samples. */
interface KeptPart extends Span {
  readonly video: ClipWindow | undefined;
  readonly audio: readonly (ClipWindow | undefined)[];
  readonly seconds: number;
  /** Where it starts in the output. */
  readonly outputSeconds: number;
}

function findParts(
  { video, audio = [] }: ClipTracks,
  times: ClipTimes,
  { isFromKeyframe }: ClipOptions,
): readonly KeptPart[] {
  const spans = keptParts(times);
  const [first, ...others] = audio;
  // Cuts are between packets, which are elsewhere in each language.
  if (others.length > 0 && spans.length > 1)
    throw new UnsupportedMp4('with every language only one part can be kept. Choose one with audio=LANG');
  const aligned = first ? alignToPackets(first, spans) : spans;
  const shown = video && findVideoWindows(video, aligned, isFromKeyframe);
  // Behind the end of the video nothing follows, though there may be a little audio.
  const visible = aligned
    .map((span, index) => ({ ...span, video: shown?.[index] }))
    .filter((part) => !video || part.video)
    .map((part, index) => (index === 0 && part.video ? { ...part, startSeconds: part.video.startSeconds } : part));
  const heard = audio.map((track) => findAudioWindows(track, visible));
  let outputSeconds = 0;
  return visible.flatMap((part, index) => {
    const windows = heard.map((each) => each[index]);
    if (!video && !windows[0]) return [];
    const { startSeconds } = part;
    const ends = [part.video, ...windows].map((window) => (window ? endOf(window) : startSeconds));
    const kept = { ...part, audio: windows, seconds: Math.max(...ends) - startSeconds, outputSeconds };
    outputSeconds += kept.seconds;
    return kept;
  });
}

/** Where a window ends in the presentation. */
const endOf = ({ startSeconds, delaySeconds, durationSeconds }: ClipWindow) =>
  startSeconds + delaySeconds + durationSeconds;

interface ClippedTrack {
  readonly track: ClipTrack;
  readonly tables: ClipTables;
  /** Until it is presented. */
  readonly delaySeconds: number;
  readonly durationSeconds: number;
}

/** Undefined when no part has such a track. */
function clipTrack(
  parts: readonly KeptPart[],
  windowOf: (part: KeptPart) => ClipWindow | undefined,
  isVideo = false,
): ClippedTrack | undefined {
  const own = parts.filter(windowOf);
  const windows = own.flatMap((part) => windowOf(part) ?? []);
  const [first, last] = [windows[0], windows.at(-1)];
  const [firstPart, lastPart] = [own[0], own.at(-1)];
  if (!first || !last || !firstPart || !lastPart) return undefined;
  const delaySeconds = firstPart.outputSeconds + first.delaySeconds;
  const endSeconds = lastPart.outputSeconds + endOf(last) - lastPart.startSeconds;
  const isRetimed = isVideo && (windows.length > 1 || hasHiddenFrames(windows));
  const timing = isRetimed ? timeParts(windows, own) : copyTiming(windows, isVideo);
  return {
    track: first.track,
    tables: buildTables(windows, timing),
    delaySeconds,
    durationSeconds: endSeconds - delaySeconds,
  };
}

interface ClipContent {
  readonly tracks: readonly ClippedTrack[];
  readonly texts: readonly TextTrack[];
  readonly order: readonly Placed[];
  readonly mediaStart: number;
}

/** `ftyp` and `moov`, whose length does not depend on where the media starts. */
function writeFileHeader(
  { tracks, texts, order, mediaStart }: ClipContent,
  { tags, container, sounds }: ClipOptions,
): Buffer {
  const offsets: number[][] = [...tracks, ...texts].map(() => []);
  let offset = mediaStart;
  for (const placed of order) {
    offsets[placed.track]?.push(offset);
    offset += bytesOf(placed);
  }
  const outputs: OutputTrack[] = [
    ...nameSounds(
      tracks.map((track, index) => toOutputTrack(track, offsets[index] ?? [])),
      sounds,
    ),
  ];
  for (const [index, text] of texts.entries())
    outputs.push({ ...text, sampleTables: textTables(text, offsets[tracks.length + index]) });
  return Buffer.concat([
    container === 'm4a' ? AUDIO_FILE_TYPE : PROGRESSIVE_FILE_TYPE,
    writeMovie(outputs, tags && [tags]),
  ]);
}

function toOutputTrack(
  { track, tables, delaySeconds, durationSeconds }: ClippedTrack,
  offsets: readonly number[],
): OutputTrack {
  const units = (seconds: number) => Math.round(seconds * MOVIE_TIMESCALE);
  const delay: Edit = { duration: units(delaySeconds), mediaTime: EMPTY, rate: NORMAL_RATE };
  const { timescale, startTime } = tables.timing;
  const edit: Edit = { duration: units(durationSeconds), mediaTime: BigInt(startTime), rate: NORMAL_RATE };
  const edits = delay.duration > 0 ? [delay, edit] : [edit];
  return {
    header: { ...track.header, timescale, edits, movieTimescale: MOVIE_TIMESCALE },
    durationSeconds: delaySeconds + durationSeconds,
    mediaSeconds: tables.duration / timescale,
    sampleTables: tables.boxes(offsets),
  };
}

/** The samples of a clip as their sample tables describe them. */
interface ClipTables {
  readonly chunks: readonly SampleChunk[];
  /** The duration of all samples, in units of the media. */
  readonly duration: number;
  readonly timing: SampleTiming;
  /** Children of `stbl` but `stsd`, with the chunks at these offsets. */
  boxes(chunkOffsets: readonly number[]): readonly Buffer[];
}

/** Tables for the samples of the windows of a track, cut into chunks that are contiguous in the source. */
function buildTables(windows: readonly ClipWindow[], timing: SampleTiming): ClipTables {
  const durations = new RunLengths();
  const compositionOffsets = new RunLengths();
  const sizes: number[] = [];
  const syncs: number[] = [];
  const chunks: MutableChunk[] = [];
  const timescale = windows[0]?.track.header.timescale ?? 1;
  let total = 0;
  for (const sample of samplesOf(windows)) {
    const { duration, compositionOffset } = timing.timeOf(sample, sizes.length);
    durations.add(duration);
    compositionOffsets.add(compositionOffset);
    sizes.push(sample.size);
    if (sample.isSync) syncs.push(sizes.length);
    appendToChunks(chunks, sample, timescale);
    total += duration;
  }
  const isReordered = compositionOffsets.rows.some((value, index) => index % 2 === 1 && value !== 0);
  return {
    chunks,
    duration: total,
    timing,
    boxes(chunkOffsets) {
      const positions = Buffer.alloc(chunkOffsets.length * 8);
      for (const [index, offset] of chunkOffsets.entries()) positions.writeBigUInt64BE(BigInt(offset), index * 8);
      return [
        durations.box('stts'),
        ...(isReordered ? [compositionOffsets.box('ctts')] : []),
        ...(syncs.length < sizes.length ? [fullBox('stss', 0, 0, u32(syncs.length), integers(syncs))] : []),
        fullBox('stsz', 0, 0, u32(0, sizes.length), integers(sizes)),
        sampleToChunk(chunks),
        fullBox('co64', 0, 0, u32(chunkOffsets.length), positions),
      ];
    },
  };
}

interface MutableChunk extends SampleChunk {
  bytes: number;
  samples: number;
}

function appendToChunks(chunks: MutableChunk[], sample: Sample, timescale: number): void {
  const { decodeTime, offset, size, description } = sample;
  const startSeconds = decodeTime / timescale;
  const last = chunks.at(-1);
  if (last && offset < last.sourceOffset + last.bytes) throw new UnsupportedMp4('Samples out of order');
  const isAdjacent = last && last.sourceOffset + last.bytes === offset && last.description === description;
  if (isAdjacent && startSeconds - last.startSeconds < MAX_CHUNK_SECONDS && last.bytes + size <= MAX_CHUNK_BYTES) {
    last.bytes += size;
    last.samples += 1;
  } else chunks.push({ startSeconds, sourceOffset: offset, bytes: size, samples: 1, description });
}

/** Rows of count and value, as `stts` (ISO/IEC 14496-12 §8.6.1.2) and `ctts` (§8.6.1.3) have them. */
class RunLengths {
  readonly rows: number[] = [];

  add(value: number): void {
    const at = this.rows.length - 2;
    if (at >= 0 && this.rows[at + 1] === value) this.rows[at] = (this.rows[at] ?? 0) + 1;
    else this.rows.push(1, value);
  }

  box(type: 'stts' | 'ctts'): Buffer {
    return fullBox(type, 0, 0, u32(this.rows.length / 2), integers(this.rows));
  }
}
