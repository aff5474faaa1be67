import { EncryptedPlaylist, type PackedPlaylist, PlaylistError, readHlsPlaylist } from '@reelay/seekable-media/hls';
import { type PackedPlace, UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  createWebmTable,
  type MoreBytes,
  makePlace,
  makeShortPlace,
  type PlaceRequest,
  packTable,
  type SegmentFacts,
  type SegmentFormatName,
  type SegmentHead,
  segmentFormat,
} from '@reelay/seekable-media/segment-file';
import { TextTooLarge } from '@reelay/seekable-media/timed-text';
import {
  arrangeMuxedPlace,
  type FramedPlace,
  type MuxedPlaceRequest,
  weighMuxedPlace,
} from '@reelay/seekable-media/virtual-mp4';
import { type NeededCues, readWebmFile, type WebmParts } from '@reelay/seekable-media/webm';

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
  options: { readonly client: string; readonly signal: AbortSignal },
) => Promise<Output>;

/** What a stream needs of an HLS playlist. */
export const READ_HLS_PLAYLIST: PureTask<{ readonly bytes: Buffer; readonly maxSegments: number }, PackedPlaylist> = {
  name: 'read HLS playlist',
  run: ({ bytes, maxSegments }) => readHlsPlaylist(bytes.toString(), maxSegments),
  errors: [EncryptedPlaylist, PlaylistError],
  limitError: PlaylistError,
};

const thrown = { errors: [UnsupportedMp4, TextTooLarge], limitError: UnsupportedMp4 };

/** What the first bytes of a segment say of its place in a file. */
export const INSPECT_SEGMENT: PureTask<
  { readonly format: SegmentFormatName; readonly head: SegmentHead },
  SegmentFacts | MoreBytes
> = {
  name: 'inspect segment',
  run: ({ format, head }) => segmentFormat(format).inspect(head),
  ...thrown,
};

/** The table of a Matroska file, packed, and where its first place begins. */
export const READ_WEBM: PureTask<WebmParts, NeededCues | { readonly table: Buffer; readonly mediaStart: number }> = {
  name: 'read WebM',
  run(parts) {
    const file = readWebmFile(parts);
    if (!('tracks' in file)) return file;
    return { table: packTable(createWebmTable(file)), mediaStart: file.places[0]?.start ?? 0 };
  },
  ...thrown,
};

/** The samples of a segment, in its memory. */
export const READ_SEGMENT: PureTask<PlaceRequest, PackedPlace> = {
  name: 'read segment',
  run: makePlace,
  attempt: makeShortPlace,
  ...thrown,
};

/** What a place has of each of its sources. */
export const ARRANGE_PLACE: PureTask<MuxedPlaceRequest, FramedPlace> = {
  name: 'arrange place',
  run: arrangeMuxedPlace,
  weigh: weighMuxedPlace,
  ...thrown,
};
