import {
  type FragmentSpan,
  type MovieFragment,
  measureFragment,
  type PackedRun,
  UnsupportedMp4,
} from '@reelay/seekable-media/isobmff';
import { type ClipOptions, type ClipSource, layOutClipSources } from '@reelay/seekable-media/mp4-clip';
import { type HlsStream, layOutHls } from '@reelay/seekable-media/mp4-hls';
import type { ClipTimes, Span } from '@reelay/seekable-media/skipping';
import { TextTooLarge } from '@reelay/seekable-media/timed-text';
import {
  createLayout,
  type FragmentRequest,
  type LayoutData,
  type LayoutExtras,
  listKinds,
  type PackedSource,
  packLayout,
  readFragmentRuns,
  unpackSource,
  weighFragment,
  weighSource,
} from '@reelay/seekable-media/virtual-mp4';
import type { ParsingTask } from './task.ts';

/** Every export is a task, as in `tasks.ts`. */

const thrown = { errors: [UnsupportedMp4, TextTooLarge], limitError: UnsupportedMp4 };

const weigh = (sources: readonly PackedSource[]): number =>
  sources.reduce((sum, source) => sum + weighSource(source), 0);

interface PairInput {
  /** The video, then the audio. */
  readonly sources: readonly PackedSource[];
  readonly extras?: LayoutExtras;
}

/** The layout of a list of segments, of a pair, or of a video with several languages. */
export const LAY_OUT_PAIR: ParsingTask<PairInput, LayoutData> = {
  name: 'lay out pair',
  run: ({ sources, extras }) => packLayout(createLayout(sources.map(unpackSource), extras)),
  weigh: ({ sources }) => weigh(sources),
  ...thrown,
};

interface ClipInput {
  readonly sources: readonly ClipSource[];
  readonly times: ClipTimes;
  readonly options: ClipOptions;
}

/** The layout of a clip, and the times that it shows. */
export const LAY_OUT_CLIP: ParsingTask<ClipInput, { readonly data: LayoutData } & Span> = {
  name: 'lay out clip',
  run({ sources, times, options }) {
    const layout = layOutClipSources(sources, times, options);
    const { startSeconds, endSeconds } = layout;
    return { data: packLayout(layout), startSeconds, endSeconds };
  },
  weigh: ({ sources }) => weighClip(sources),
  ...thrown,
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
export const LAY_OUT_HLS: ParsingTask<HlsInput, { readonly data: LayoutData; readonly stream: HlsStream }> = {
  name: 'lay out HLS',
  run({ source: packed, only }) {
    const source = unpackSource(packed);
    const kinds = listKinds(source).filter((kind) => kind === (only ?? kind));
    if (kinds.length === 0) throw new UnsupportedMp4('Neither video nor audio');
    const layout = layOutHls(source, kinds);
    return { data: packLayout(layout), stream: layout.stream };
  },
  weigh: ({ source }) => weighSource(source),
  ...thrown,
};

interface FragmentInput {
  readonly fragment: MovieFragment;
  readonly trackId: number;
  /** 16 bytes of the track's `trex`. */
  readonly defaults: Buffer;
}

/** When the samples of one track in a fragment are decoded. */
export const MEASURE_FRAGMENT: ParsingTask<FragmentInput, FragmentSpan> = {
  name: 'measure fragment',
  run: ({ fragment, trackId, defaults }) => measureFragment(fragment, trackId, defaults),
  ...thrown,
};

/** The samples of a fragment of a file. */
export const READ_FRAGMENT: ParsingTask<FragmentRequest, readonly PackedRun[]> = {
  name: 'read fragment',
  run: readFragmentRuns,
  weigh: weighFragment,
  ...thrown,
};
