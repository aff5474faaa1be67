import {
  box,
  type Edit,
  LARGE_BOX_HEADER_BYTES,
  type OutputTrack,
  UnsupportedMp4,
  u32,
  u64,
  writeMovie,
} from '../isobmff/index.ts';
import { clipText, type TextChunk, type TextTrack, textTables, timedText } from '../timed-text/index.ts';
import {
  type Layout,
  LayoutBuilder,
  type LayoutExtras,
  layoutTrack,
  PROGRESSIVE_FILE_TYPE,
  type SampleChunk,
  type SourceIndex,
} from '../virtual-mp4/index.ts';
import { type ClipTables, clipTables } from './clip-tables.ts';
import { audioWindow, type ClipTimes, type ClipTrack, type ClipWindow, videoWindow } from './clip-window.ts';

/** The layout of a clip, and the part of the presentation that it shows. */
export interface ClipLayout extends Layout, ClipTimes {}

export interface ClipOptions extends LayoutExtras {
  /** Of audio alone: a file that is named so, or Ogg, whose `tags` are a packet of comments. @default MP4 */
  readonly container?: 'm4a' | 'ogg';
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
 * list has players show it from the frame at the start, with the audio of that moment.
 * @param tracks at most one of each kind
 * @throws UnsupportedMp4 when nothing is presented between start and end, and Error when a file is truncated
 */
export function layOutClip(
  { video, audio }: { readonly video?: ClipTrack; readonly audio?: ClipTrack },
  times: ClipTimes,
  options: ClipOptions = {},
): ClipLayout {
  const videoPart = video && videoWindow(video, times);
  const startSeconds = videoPart?.startSeconds ?? times.startSeconds;
  const audioPart = audio && audioWindow(audio, { ...times, startSeconds });
  const windows = [videoPart, audioPart].filter((window) => window !== undefined);
  if (windows.length === 0) throw new UnsupportedMp4('Nothing is heard between start and end');

  const seconds = Math.max(...windows.map(({ delaySeconds, durationSeconds }) => delaySeconds + durationSeconds));
  const tracks = windows.map((window) => ({ window, tables: clipTables(window) }));
  const text = options.text && timedText(clipText(options.text, startSeconds), seconds);
  const order = withText(interleave(tracks), text?.chunks ?? [], { startSeconds, track: tracks.length });
  const mediaBytes = order.reduce((sum, placed) => sum + bytesOf(placed), 0);
  const layout = new LayoutBuilder();
  const header = (mediaStart: number) => fileHeader({ tracks, text, order, mediaStart }, options);
  const mediaStart = header(0).length + LARGE_BOX_HEADER_BYTES;
  layout.addOwn(header(mediaStart));
  layout.addOwn(Buffer.concat([u32(1), Buffer.from('mdat'), u64(LARGE_BOX_HEADER_BYTES + mediaBytes)]));
  layout.beginMedia();
  for (const placed of order) {
    if ('text' in placed) layout.addOwn(placed.text.bytes);
    else layout.addSamples(placed.source, placed.chunk.sourceOffset, placed.chunk.bytes);
  }
  const [first, second = first] = windows.map(({ track }, index) => layoutTrack(track.header, index + 1));
  if (!first || !second) throw new TypeError('A clip has a track');
  return { ...layout.build([first, second]), startSeconds, endSeconds: startSeconds + seconds };
}

interface ClippedTrack {
  readonly window: ClipWindow;
  readonly tables: ClipTables;
}

interface PlacedChunk {
  /** Position of the track in the clip. */
  readonly track: number;
  readonly source: SourceIndex;
  readonly chunk: SampleChunk;
}

/** Samples of the text track, which are bytes of the layout. */
interface PlacedText {
  readonly track: number;
  readonly text: TextChunk;
}

type Placed = PlacedChunk | PlacedText;

const bytesOf = (placed: Placed): number => ('text' in placed ? placed.text.bytes.length : placed.chunk.bytes);

/** Chunks of different files by decode time; of one file as they follow each other there, so that it is read once. */
function interleave(tracks: readonly ClippedTrack[]): readonly PlacedChunk[] {
  const placed = tracks.flatMap(({ window: { track }, tables }, index) =>
    tables.chunks.map((chunk) => ({ track: index, source: track.source, chunk })),
  );
  const isOneFile = placed.every(({ source }) => source === placed[0]?.source);
  const position = ({ chunk }: PlacedChunk) => (isOneFile ? chunk.sourceOffset : chunk.startSeconds);
  return placed.sort((a, b) => position(a) - position(b) || a.track - b.track);
}

/** Text before the media that is shown with it. @param clip where it starts, and the position of its text track */
function withText(
  order: readonly PlacedChunk[],
  text: readonly TextChunk[],
  { startSeconds, track }: { readonly startSeconds: number; readonly track: number },
): readonly Placed[] {
  const placed: Placed[] = [];
  let next = 0;
  const addUntil = (seconds: number) => {
    for (let chunk = text[next]; chunk && chunk.startSeconds <= seconds; chunk = text[++next]) {
      placed.push({ track, text: chunk });
    }
  };
  for (const each of order) {
    addUntil(each.chunk.startSeconds - startSeconds);
    placed.push(each);
  }
  addUntil(Number.POSITIVE_INFINITY);
  return placed;
}

interface ClipContent {
  readonly tracks: readonly ClippedTrack[];
  readonly text: TextTrack | undefined;
  readonly order: readonly Placed[];
  readonly mediaStart: number;
}

/** `ftyp` and `moov`, whose length does not depend on where the media starts. */
function fileHeader({ tracks, text, order, mediaStart }: ClipContent, { tags, container }: ClipOptions): Buffer {
  const offsets: number[][] = [...tracks, text].map(() => []);
  let offset = mediaStart;
  for (const placed of order) {
    offsets[placed.track]?.push(offset);
    offset += bytesOf(placed);
  }
  const outputs = tracks.map((track, index) => outputTrack(track, offsets[index] ?? []));
  if (text) outputs.push({ ...text, sampleTables: textTables(text, offsets[tracks.length]) });
  return Buffer.concat([
    container === 'm4a' ? AUDIO_FILE_TYPE : PROGRESSIVE_FILE_TYPE,
    writeMovie(outputs, tags && [tags]),
  ]);
}

function outputTrack({ window, tables }: ClippedTrack, offsets: readonly number[]): OutputTrack {
  const { track, startTime, decodeTime, compositionShift, delaySeconds, durationSeconds } = window;
  const units = (seconds: number) => Math.round(seconds * MOVIE_TIMESCALE);
  const delay: Edit = { duration: units(delaySeconds), mediaTime: EMPTY, rate: NORMAL_RATE };
  const edit: Edit = {
    duration: units(durationSeconds),
    mediaTime: BigInt(startTime - decodeTime + compositionShift),
    rate: NORMAL_RATE,
  };
  const edits = delay.duration > 0 ? [delay, edit] : [edit];
  return {
    header: { ...track.header, edits, movieTimescale: MOVIE_TIMESCALE },
    durationSeconds: delaySeconds + durationSeconds,
    mediaSeconds: tables.duration / track.header.timescale,
    sampleTables: tables.boxes(offsets),
  };
}
