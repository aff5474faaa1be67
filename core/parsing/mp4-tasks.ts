import {
  type FragmentSpan,
  listTrackKinds,
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
  arrangeMuxedPlace,
  createLayout,
  type FragmentPatch,
  type FragmentRequest,
  type FramedPlace,
  type LayoutData,
  type LayoutExtras,
  type MuxedPlaceRequest,
  type PackedSource,
  packLayout,
  patchFragment,
  readFragmentRuns,
  unpackSource,
  weighFragment,
  weighMuxedPlace,
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

/** The layout of a pair, or of a video with several languages. */
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
  readonly sources: readonly PackedSource[];
  /** The audio of a single file alone. @default what it has */
  readonly isAudio?: boolean;
}

/** The layout of an HLS presentation of a file, or of a video and the audio of another. */
export const LAY_OUT_HLS: ParsingTask<HlsInput, { readonly data: LayoutData; readonly streams: readonly HlsStream[] }> =
  {
    name: 'lay out HLS',
    run({ sources: packed, isAudio }) {
      const sources = packed.map(unpackSource);
      const present = sources.flatMap(({ movie }) => listTrackKinds(movie));
      const wanted = isAudio ? (['soun'] as const) : (['vide', 'soun'] as const);
      const kinds = wanted.filter((kind) => sources.length > 1 || present.includes(kind));
      if (kinds.length === 0) throw new UnsupportedMp4('Neither video nor audio');
      const layout = layOutHls(sources, kinds);
      return { data: packLayout(layout), streams: layout.streams };
    },
    weigh: ({ sources }) => weigh(sources),
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

/** A fragment in its place in a layout. */
export const PATCH_FRAGMENT: ParsingTask<{ readonly moof: Buffer; readonly patch: FragmentPatch }, Buffer> = {
  name: 'patch fragment',
  run: ({ moof, patch }) => patchFragment(moof, patch),
  ...thrown,
};

/** The samples of a fragment of a file. */
export const READ_FRAGMENT: ParsingTask<FragmentRequest, readonly PackedRun[]> = {
  name: 'read fragment',
  run: readFragmentRuns,
  weigh: weighFragment,
  ...thrown,
};

/** What a place of a pair has of each of its sources. */
export const ARRANGE_MUXED_PLACE: ParsingTask<MuxedPlaceRequest, FramedPlace> = {
  name: 'arrange muxed place',
  run: arrangeMuxedPlace,
  weigh: weighMuxedPlace,
  ...thrown,
};
