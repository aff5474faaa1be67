import { EncryptedPlaylist, type PackedPlaylist, PlaylistError, readHlsPlaylist } from '../hls/index.ts';
import {
  type FragmentSamples,
  type FragmentSpan,
  type MovieFragment,
  measureFragment,
  type PackedRun,
  UnsupportedMp4,
} from '../isobmff/index.ts';
import { type ClipOptions, type ClipSource, layOutClipSources } from '../mp4-clip/index.ts';
import { type HlsStream, layOutHls } from '../mp4-hls/index.ts';
import type { ClipTimes, Span } from '../parts/skipping.ts';
import {
  createWebmTable,
  type MoreBytes,
  packTable,
  readSegmentSamples,
  readShortSegment,
  type SegmentFacts,
  type SegmentFormatName,
  type SegmentHead,
  type SegmentRequest,
  segmentFormat,
} from '../segment-file/index.ts';
import { TextTooLarge } from '../text/text-track.ts';
import {
  type ArrangedSubsegment,
  arrangeSubsegment,
  createLayout,
  type FragmentRequest,
  type LayoutData,
  type LayoutExtras,
  listKinds,
  type PackedSource,
  packLayout,
  readFragmentRuns,
  type SubsegmentRequest,
  unpackSource,
  weighFragment,
  weighSource,
  weighSubsegment,
} from '../virtual-mp4/index.ts';
import { type NeededCues, readWebmFile, type WebmParts } from '../webm/index.ts';

/**
 * A pure function of what a stranger sent, which may take long, exhaust the memory or never end. Input and output can be
 * cloned (structured clone); a large output is compact (typed arrays instead of many objects): this process reads it in one
 * turn of its event loop.
 */
export interface PureTask<Input, Output> {
  /** Unique among all tasks. */
  readonly name: string;
  readonly run: (input: Input) => Output | Promise<Output>;
  /** Classes of the errors that it throws; those of other classes become an Error with the same message. */
  readonly errors?: readonly (new (
    message: string,
  ) => Error)[];
  /** What it throws when it takes too long or too much memory. */
  readonly limitError?: new (
    message: string,
    options: ErrorOptions,
  ) => Error;
  /** Does all of it at once, where that takes little although there is much input: to hand that over would take longer. */
  readonly attempt?: (input: Input) => Output | undefined;
  /** Bytes that the work is proportional to. @default the bytes of the input */
  readonly weigh?: (input: Input) => number;
}

/** Runs tasks, in another process if need be. */
export type Parse = <Input, Output>(
  task: PureTask<Input, Output>,
  input: NoInfer<Input>,
  options: { readonly client?: string; readonly signal?: AbortSignal },
) => Promise<Output>;

/** How tasks run: where, for which client, and until when. */
export interface Parsing {
  /** @default at once, in this process */
  readonly parse?: Parse | undefined;
  /** @default that of no client */
  readonly client?: string;
  readonly signal?: AbortSignal;
}

const parseHere: Parse = async ({ run }, input) => run(input);

export const runTask = <Input, Output>(
  task: PureTask<Input, Output>,
  input: NoInfer<Input>,
  { parse = parseHere, ...options }: Parsing,
): Promise<Output> => parse(task, input, options);

const errors = [UnsupportedMp4, TextTooLarge];
const limitError = UnsupportedMp4;

/** What a stream needs of an HLS playlist. */
export const READ_HLS_PLAYLIST: PureTask<{ readonly bytes: Buffer; readonly maxSegments: number }, PackedPlaylist> = {
  name: 'read HLS playlist',
  run: ({ bytes, maxSegments }) => readHlsPlaylist(bytes.toString(), maxSegments),
  errors: [EncryptedPlaylist, PlaylistError],
  limitError: PlaylistError,
};

/** What the first bytes of a segment say of its place in a file. */
export const INSPECT_SEGMENT: PureTask<
  { readonly format: SegmentFormatName; readonly head: SegmentHead },
  SegmentFacts | MoreBytes
> = {
  name: 'inspect segment',
  run: ({ format, head }) => segmentFormat(format).inspect(head),
  errors,
  limitError,
};

/** The table of a Matroska file, packed, and where its first place begins. */
export const READ_WEBM: PureTask<WebmParts, NeededCues | { readonly table: Buffer; readonly mediaStart: number }> = {
  name: 'read WebM',
  run(parts) {
    const file = readWebmFile(parts);
    if (!('tracks' in file)) return file;
    return { table: packTable(createWebmTable(file)), mediaStart: file.spans[0]?.start ?? 0 };
  },
  errors,
  limitError,
};

/** The samples of a segment, in its memory. */
export const READ_SEGMENT: PureTask<SegmentRequest, FragmentSamples> = {
  name: 'read segment',
  run: readSegmentSamples,
  attempt: readShortSegment,
  errors,
  limitError,
};

/** What a place has of each of its sources. */
export const ARRANGE_SUBSEGMENT: PureTask<SubsegmentRequest, ArrangedSubsegment> = {
  name: 'arrange place',
  run: arrangeSubsegment,
  weigh: weighSubsegment,
  errors,
  limitError,
};

const weigh = (sources: readonly PackedSource[]): number =>
  sources.reduce((sum, source) => sum + weighSource(source), 0);

interface PairInput {
  /** The video, then the audio. */
  readonly sources: readonly PackedSource[];
  readonly extras?: LayoutExtras;
}

/** The layout of a list of segments, of a pair, or of a video with several languages. */
export const LAY_OUT_PAIR: PureTask<PairInput, LayoutData> = {
  name: 'lay out pair',
  run: ({ sources, extras }) => packLayout(createLayout(sources.map(unpackSource), extras)),
  weigh: ({ sources }) => weigh(sources),
  errors,
  limitError,
};

interface ClipInput {
  readonly sources: readonly ClipSource[];
  readonly times: ClipTimes;
  readonly options: ClipOptions;
}

/** The layout of a clip, and the times that it shows. */
export const LAY_OUT_CLIP: PureTask<ClipInput, { readonly data: LayoutData } & Span> = {
  name: 'lay out clip',
  run({ sources, times, options }) {
    const layout = layOutClipSources(sources, times, options);
    const { startSeconds, endSeconds } = layout;
    return { data: packLayout(layout), startSeconds, endSeconds };
  },
  weigh: ({ sources }) => weighClip(sources),
  errors,
  limitError,
};

/** A short `moof` may declare a million samples. */
const weighClip = (sources: readonly ClipSource[]): number =>
  sources.some(({ fragments }) => fragments) ? Number.POSITIVE_INFINITY : weigh(sources.map(({ header }) => header));

interface HlsInput {
  readonly source: PackedSource;
  /** One of its tracks alone. @default video and audio, as far as it has them */
  readonly only?: 'vide' | 'soun' | undefined;
}

/** The layout of a file of an HLS presentation. */
export const LAY_OUT_HLS: PureTask<HlsInput, { readonly data: LayoutData; readonly stream: HlsStream }> = {
  name: 'lay out HLS',
  run({ source: packed, only }) {
    const source = unpackSource(packed);
    const kinds = listKinds(source).filter((kind) => kind === (only ?? kind));
    if (kinds.length === 0) throw new UnsupportedMp4('Neither video nor audio');
    const layout = layOutHls(source, kinds);
    return { data: packLayout(layout), stream: layout.stream };
  },
  weigh: ({ source }) => weighSource(source),
  errors,
  limitError,
};

interface FragmentInput {
  readonly fragment: MovieFragment;
  readonly trackId: number;
  /** 16 bytes of the track's `trex`. */
  readonly defaults: Buffer;
}

/** When the samples of one track in a fragment are decoded. */
export const MEASURE_FRAGMENT: PureTask<FragmentInput, FragmentSpan> = {
  name: 'measure fragment',
  run: ({ fragment, trackId, defaults }) => measureFragment(fragment, trackId, defaults),
  errors,
  limitError,
};

/** The samples of a fragment of a file. */
export const READ_FRAGMENT: PureTask<FragmentRequest, readonly PackedRun[]> = {
  name: 'read fragment',
  run: readFragmentRuns,
  weigh: weighFragment,
  errors,
  limitError,
};
