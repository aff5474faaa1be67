import {
  displaySize,
  type HandlerType,
  parseFragmentSamples,
  parseSampleTable,
  type TrackHeader,
  unpackSamples,
} from '../isobmff/index.ts';
import { isList, type Layout, type LayoutSource, layOutTracks, type SoundName } from '../virtual-mp4/index.ts';
import { channelCount, codecString, withHvc1 } from './codec-string.ts';
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

/** A media playlist of a file, which begins with its initialization section. */
export interface HlsStream extends HlsTraits {
  /** `both`: audio and video in the same segments. */
  readonly kind: 'video' | 'audio' | 'both';
  /** The name of the audio. Absent: unknown, or video. */
  readonly sound?: SoundName;
  readonly initBytes: number;
  /** When the first sample of the first segment is decoded. */
  readonly startSeconds: number;
  readonly segments: readonly Segment[];
  /** Whether every segment begins with a sync sample. */
  readonly isIndependent: boolean;
  /** The audio of the file is a stream of its own. @default false */
  readonly isSplit?: boolean;
}

/** A file that a playlist refers to by byte ranges. */
export interface HlsLayout extends Layout {
  readonly stream: HlsStream;
}

/** Frames from whose durations the frame rate is taken. */
const MAX_MEASURED_FRAMES = 1000;
/** A decoder reorders at most so many (ITU-T H.264 §A.3.1). */
const MAX_REORDERED_FRAMES = 16;
/** Bytes of memory of a segment: an object with three numbers, of which two are objects too. */
const SEGMENT_BYTES = 100;

/**
 * A file for the video, the audio or both of a source. What has sample tables has one for each of them: its tracks are cut at other subsegments.
 * @throws UnsupportedMp4 when its fragments are not known from its headers, and Error when it is truncated
 */
export function layOutHls(source: LayoutSource, wanted: readonly HandlerType[]): HlsLayout {
  const kinds = isList(source) || source.fragments ? wanted : wanted.slice(0, 1);
  const { layout, subsegments, timescale, headerBytes, headers } = layOutTracks(source, kinds, withHvc1);
  const traits = kinds.map((kind, index) => traitsOf(headers[index] as TrackHeader, kind, source));
  return {
    ...layout,
    memoryBytes: layout.memoryBytes + subsegments.length * SEGMENT_BYTES,
    stream: {
      ...Object.assign({}, ...traits),
      codecs: traits.flatMap(({ codecs }) => codecs),
      kind: kinds.length > 1 ? 'both' : kinds[0] === 'vide' ? 'video' : 'audio',
      initBytes: headerBytes,
      startSeconds: (subsegments[0]?.time ?? 0) / timescale,
      segments: groupFragments(subsegments, layout.mediaStart, timescale),
      isIndependent: areIndependent(subsegments),
      isSplit: kinds.length < wanted.length,
    },
  };
}

function traitsOf(header: TrackHeader, kind: HandlerType, source: LayoutSource): HlsTraits {
  const { sampleDescriptions } = header;
  const codecs = [codecString(sampleDescriptions)];
  if (kind === 'soun')
    return { codecs, channels: hasChannels(codecs[0]) ? channelCount(sampleDescriptions) : undefined };
  return { codecs, resolution: displaySize(header), framesPerSecond: frameRate(header, source) };
}

/** AC-3 has its channels in its own configuration: the field of the sample entry is always 2 (ETSI TS 102 366 §F.3). */
const hasChannels = (codec = '') => !/^e?[ac]-3/.test(codec);

/** Frames per second of the start of the table, or of the first fragment. */
function frameRate(header: TrackHeader, source: LayoutSource): number | undefined {
  const samples = firstSamples(header, source);
  const units = samples.reduce((sum, { duration }) => sum + duration, 0);
  return units > 0 ? (samples.length * header.timescale) / units : undefined;
}

function firstSamples(header: TrackHeader, source: LayoutSource): readonly { readonly duration: number }[] {
  const { id, fragmentDefaults, sampleTable } = header;
  if (!isList(source) && !source.fragments) {
    const sample = parseSampleTable(sampleTable).cursor();
    const samples = [];
    while (samples.length < MAX_MEASURED_FRAMES && sample.next()) samples.push({ duration: sample.duration });
    return samples;
  }
  const moof = isList(source) ? undefined : source.fragments?.firstMoof;
  const samples = isList(source)
    ? unpackSamples({ samples: source.firstSamples ?? new Float64Array() }).slice(0, MAX_MEASURED_FRAMES)
    : moof && fragmentDefaults
      ? [...parseFragmentSamples(moof, id, fragmentDefaults).take(MAX_MEASURED_FRAMES)]
      : [];
  // What is decoded before the first one is shown may follow each other faster.
  return samples.slice(samples.length > 2 * MAX_REORDERED_FRAMES ? MAX_REORDERED_FRAMES : 0);
}
