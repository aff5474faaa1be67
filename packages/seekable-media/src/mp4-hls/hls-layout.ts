import {
  box,
  displaySize,
  FRAGMENTED_FILE_TYPE,
  flagsOf,
  indexBox,
  parseFragmentSamples,
  parseSampleTable,
  parseTrackHeader,
  TFHD,
  type TrackHeader,
  UnsupportedMp4,
  writeMovieHeader,
} from '../isobmff/index.ts';
import {
  type FragmentedTrack,
  type FragmentIndex,
  fragmentTrack,
  type Layout,
  LayoutBuilder,
  type LayoutSource,
  requireFirstMoof,
  type SoundName,
  type SourceIndex,
  timeFragments,
  toLayoutTrack,
} from '../virtual-mp4/index.ts';
import { channelCount, codecString } from './codec-string.ts';
import { areIndependent, groupFragments, type Segment } from './segments.ts';

/** Attributes of a variant stream, or of a rendition, in a playlist. */
export interface HlsTraits {
  /** RFC 6381. */
  readonly codecs: readonly string[];
  /** Pixels, as displayed; undefined: no video. */
  readonly resolution?: { readonly width: number; readonly height: number };
  readonly framesPerSecond?: number;
  /** Undefined: no audio, or unknown. */
  readonly channels?: number;
}

/** A media playlist: its initialization section at `offset` 0 of it, and its segments, in one file. */
export interface HlsStream extends HlsTraits {
  /** `both`: audio and video in the same segments. */
  readonly kind: 'video' | 'audio' | 'both';
  /** The name of the audio. Absent: unknown, or video. */
  readonly sound?: SoundName;
  readonly init: { readonly offset: number; readonly bytes: number };
  /** When the first sample of the first segment is decoded. */
  readonly startSeconds: number;
  readonly segments: readonly Segment[];
  /** Whether every segment begins with a sync sample. */
  readonly isIndependent: boolean;
}

/** One file with everything that the playlists of a rendition refer to by byte range. */
export interface HlsLayout extends Layout {
  readonly streams: readonly HlsStream[];
}

/** Frames from whose durations the frame rate is taken. */
const MAX_MEASURED_FRAMES = 1000;
/** A decoder reorders at most so many (ITU-T H.264 §A.3.1). */
const MAX_REORDERED_FRAMES = 16;
/** Bytes of memory of a segment: an object with three numbers, of which two are objects too. */
const SEGMENT_BYTES = 100;

interface Part {
  readonly source: LayoutSource;
  readonly index: SourceIndex;
  readonly kind: 'vide' | 'soun';
}

/**
 * The layout of the video of a file with the audio of another, or of a file with video, audio or both.
 * @param kinds the tracks that a single file has
 * @throws UnsupportedMp4 when the fragments are not known from the headers, and Error when a file is truncated
 */
export function layOutHls(sources: readonly LayoutSource[], kinds: readonly ('vide' | 'soun')[]): HlsLayout {
  const [first, second] = sources;
  if (!first) throw new TypeError('No source');
  if (!second && first.fragments && kinds.length > 1) return layOutFragmentsOfBoth(first);
  const parts: readonly Part[] = second
    ? [
        { source: first, index: 0, kind: 'vide' },
        { source: second, index: 1, kind: 'soun' },
      ]
    : kinds.map((kind) => ({ source: first, index: 0, kind }));
  for (const { fragments } of sources) if (fragments) requireRelativeOffsets(fragments);
  const tracks = parts.map(({ source, kind }) => fragmentTrack(source, kind, 1));
  const layout = new LayoutBuilder();
  const streams = parts.map((part, index) => {
    // The second stream reads a file from its start again.
    if (index === parts.length - 1) layout.beginMedia();
    return addStream(layout, part, tracks[index] as FragmentedTrack);
  });
  return addStreams(layout.build(tracks.map(({ header }) => toLayoutTrack(header, 1))), streams);
}

function addStream(layout: LayoutBuilder, { source, index, kind }: Part, track: FragmentedTrack): HlsStream {
  const init = writeMovieHeader([track]);
  const offset = layout.size;
  layout.addOwn(init);
  const segments = groupFragments(track.fragments, layout.size, track.timescale);
  for (const fragment of track.fragments) fragment.addTo(layout, index);
  return {
    kind: kind === 'vide' ? 'video' : 'audio',
    init: { offset, bytes: init.length },
    startSeconds: track.fragments[0]?.startSeconds ?? 0,
    segments,
    isIndependent: areIndependent(track.fragments),
    ...traitsOf(track.header, kind, source),
  };
}

/** A file whose fragments have both tracks, as they are: with its own `moov`. */
function layOutFragmentsOfBoth(source: LayoutSource): HlsLayout {
  const { movie, fragments: index, fileBytes } = source;
  if (!index) throw new UnsupportedMp4('Fragments without an index');
  const video = parseSupportedTrack(source, 'vide');
  const audio = parseSupportedTrack(source, 'soun');
  requireRelativeOffsets(index);
  const timed = timeFragments(index, fileBytes);
  const layout = new LayoutBuilder();
  const init = Buffer.concat([FRAGMENTED_FILE_TYPE, box('moov', movie.bytes)]);
  layout.addOwn(init);
  for (const { offset, bytes } of timed) layout.addSamples(0, offset, bytes);
  const [videoTraits, audioTraits] = [traitsOf(video, 'vide', source), traitsOf(audio, 'soun', source)];
  const stream: HlsStream = {
    ...videoTraits,
    channels: audioTraits.channels,
    kind: 'both',
    codecs: [...videoTraits.codecs, ...audioTraits.codecs],
    init: { offset: 0, bytes: init.length },
    startSeconds: timed[0]?.startSeconds ?? 0,
    segments: groupFragments(timed, init.length, index.timescale),
    isIndependent: areIndependent(timed),
  };
  return addStreams(layout.build([toLayoutTrack(video, video.id), toLayoutTrack(audio, audio.id)]), [stream]);
}

/** A layout with its streams. */
export const addStreams = (layout: Layout, streams: readonly HlsStream[]): HlsLayout => ({
  ...layout,
  streams,
  memoryBytes: layout.memoryBytes + streams.reduce((sum, { segments }) => sum + segments.length * SEGMENT_BYTES, 0),
});

function parseSupportedTrack({ movie }: LayoutSource, kind: 'vide' | 'soun'): TrackHeader {
  const header = parseTrackHeader(movie, kind);
  if (!header.fragmentDefaults) throw new UnsupportedMp4('An index without fragments');
  return header;
}

/** Players read segments by themselves: offsets that count from the start of a file mean nothing there. */
function requireRelativeOffsets({ firstMoof }: FragmentIndex): void {
  const { bytes: moof } = requireFirstMoof(firstMoof);
  for (const traf of indexBox(moof)?.children ?? []) {
    const tfhd = traf.type === 'traf' ? traf.find('tfhd') : undefined;
    if (tfhd && flagsOf(moof, tfhd) & TFHD.baseDataOffset) throw new UnsupportedMp4('Fragments with absolute offsets');
  }
}

function traitsOf(header: TrackHeader, kind: 'vide' | 'soun', source: LayoutSource): HlsTraits {
  const { sampleDescriptions } = header;
  const codecs = [codecString(sampleDescriptions)];
  if (kind === 'soun')
    return { codecs, channels: hasChannels(codecs[0]) ? channelCount(sampleDescriptions) : undefined };
  return { codecs, resolution: displaySize(header), framesPerSecond: frameRate(header, source) };
}

/** AC-3 has its channels in its own configuration: the field of the sample entry is always 2 (ETSI TS 102 366 §F.3). */
const hasChannels = (codec = '') => !/^e?[ac]-3/.test(codec);

/** Frames per second of the start of the table, or of the first fragment. */
function frameRate(header: TrackHeader, { fragments }: LayoutSource): number | undefined {
  const { timescale, fragmentDefaults } = header;
  let [count, units] = [0, 0];
  if (fragments && fragmentDefaults) {
    const moof = requireFirstMoof(fragments.firstMoof);
    const samples = [...parseFragmentSamples(moof, header.id, fragmentDefaults).take(MAX_MEASURED_FRAMES)];
    // What is decoded before the first one is shown may follow each other faster.
    const measured = samples.slice(samples.length > 2 * MAX_REORDERED_FRAMES ? MAX_REORDERED_FRAMES : 0);
    count = measured.length;
    units = measured.reduce((sum, { duration }) => sum + duration, 0);
  } else {
    const sample = parseSampleTable(header.sampleTable).cursor();
    while (count < MAX_MEASURED_FRAMES && sample.next()) {
      count += 1;
      units += sample.duration;
    }
  }
  return count > 0 && units > 0 ? (count * timescale) / units : undefined;
}
