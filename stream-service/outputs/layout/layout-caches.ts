import { createCache, createSingleFlight } from '@reelay/concurrency';
import { audioFamily } from '@reelay/seekable-media/codecs';
import { listTrackKinds, type TrackHeader, UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  audioFiles,
  type ClipLayout,
  type ClipSource,
  packFragments,
  parseFileTracks,
  selectFragments,
  type TrackKind,
} from '@reelay/seekable-media/mp4-clip';
import { addStreams, codecString, type HlsLayout } from '@reelay/seekable-media/mp4-hls';
import type { ClipTimes } from '@reelay/seekable-media/skipping';
import {
  type Layout,
  type LayoutExtras,
  packSource,
  type SourceIndex,
  unpackLayout,
} from '@reelay/seekable-media/virtual-mp4';
import { withoutFrames } from '../../../core/errors/index.ts';
import { LAY_OUT_CLIP, LAY_OUT_HLS, LAY_OUT_PAIR, parse } from '../../../core/parsing/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import { type Opening, toReadError } from '../representation.ts';
import type { AudioCopy } from '../writers.ts';
import { ByteReader } from './byte-reader.ts';
import { createPlaceCache, type PlaceCache } from './muxed-places.ts';
import {
  HEADER_RANGE,
  type KnownLayout,
  type LayoutMaking,
  type LayoutReader,
  type LayoutRequest,
  type OpenFile,
  type OpenTrack,
  readLayout,
} from './read-layout.ts';
import { readMovieFragments } from './read-movie-fragments.ts';

/** Layouts of one kind, by request. */
export interface LayoutCache<Request extends LayoutRequest, L extends Layout = Layout> {
  /** The layout if it is in the cache; UnsupportedMp4: the files are known to have none. */
  get(request: Request): KnownLayout<L> | UnsupportedMp4 | undefined;
  /**
   * The layout from the cache or from the headers of the sources, which concurrent callers of one request read once.
   * @returns UnsupportedMp4 when the files have no layout
   */
  load(request: Request, open: OpenTrack, reader: LayoutReader): Promise<KnownLayout<L> | UnsupportedMp4>;
  /** Removes a layout whose files have changed. */
  delete(request: Request): void;
}

interface LayoutCacheOptions<Request extends LayoutRequest, L extends Layout>
  extends Pick<LayoutMaking<Request, L>, 'layOut' | 'needsFirstFragment' | 'needsHeaders'> {
  /** Bytes of all layouts together. One hour of a fragmented pair has about 100 KB, of a progressive pair 3 MB. */
  readonly maxMemoryBytes: number;
  /** Epoch milliseconds. @default Date.now */
  readonly now?: () => number;
}

const MAX_ENTRIES = 1000;
/** Bytes of one entry besides those of its layout: objects, and a buffer of a few bytes may be a part of one of 8 KB. */
const ENTRY_BYTES = 10 * 1024;
/** Reading the headers of a longer file again takes some hundred milliseconds. */
const IDLE = { afterMs: 30_000, maxWeight: 4 * 1024 * 1024 };
/** A layout is compared with its files on every read; this bounds how long HEAD answers without opening them. */
const MAX_AGE_MS = 60 * 60 * 1000;

export function createLayoutCache<Request extends LayoutRequest, L extends Layout = Layout>({
  maxMemoryBytes,
  now,
  ...making
}: LayoutCacheOptions<Request, L>): LayoutCache<Request, L> {
  const entries = createCache<string, KnownLayout<L> | UnsupportedMp4>({
    maxEntries: MAX_ENTRIES,
    maxAgeMs: MAX_AGE_MS,
    maxWeight: maxMemoryBytes,
    now,
    weightOf: (known) => ENTRY_BYTES + (known instanceof UnsupportedMp4 ? 0 : known.layout.memoryBytes),
    idle: IDLE,
  });
  const loads = createSingleFlight<KnownLayout<L> | UnsupportedMp4>();

  const get = ({ id }: Request) => entries.get(id);

  const read = async (request: Request, open: OpenTrack, reader: LayoutReader) => {
    const known = await readLayout(request, { open, ...making }, reader).catch((error) => {
      if (error instanceof UnsupportedMp4) return withoutFrames(error);
      throw error;
    });
    return entries.set(request.id, known);
  };

  return {
    get,
    load: async (request, open, { client, signal }) =>
      get(request) ?? loads(request.id, (shared) => read(request, open, { client, signal: shared }), signal),
    delete: ({ id }) => entries.delete(id),
  };
}

/** What is asked of one kind of layouts, and for which rendition and session. */
export interface Wanted<Request extends LayoutRequest, L extends Layout> {
  readonly found: KeyedRendition;
  readonly opening: Opening;
  readonly cache: LayoutCache<Request, L>;
  readonly request: Request;
}

/** The layout from the cache or the headers of its sources. */
export function loadLayout<Request extends LayoutRequest, L extends Layout>({
  found,
  cache,
  request,
  opening,
}: Wanted<Request, L>): Promise<KnownLayout<L> | UnsupportedMp4> {
  const { openSource, session } = opening;
  const { client, signal } = session;
  const openFile = (index: SourceIndex, shared: AbortSignal) =>
    openSource(found.resource, trackOf(found, index), { signal: shared, range: HEADER_RANGE });
  return cache.load(request, openFile, { client, signal }).catch((error) => {
    throw signal.aborted ? error : toReadError(error);
  });
}

export const trackOf = ({ tracks }: KeyedRendition, index: SourceIndex): Track => {
  const track = tracks[index];
  if (!track) throw new TypeError(`No track ${index}`);
  return track;
};

/** Source 0 has the video, the others the audio. The id begins with the key. */
export interface PairRequest extends LayoutRequest {
  readonly extras?: LayoutExtras;
}

/** A part of a file with one or both kinds of tracks, or of several: source 0 has the video, the others the audio. */
export interface PartRequest extends LayoutRequest {
  readonly times: ClipTimes;
  /** The audio of a single file without its video. Absent: with it. */
  readonly audioAs?: AudioCopy;
  /** It starts with the last keyframe at or before the start. */
  readonly isFromKeyframe?: boolean;
  readonly extras?: LayoutExtras;
}

export interface PresentationRequest extends LayoutRequest {
  /** The audio of a single file alone. */
  readonly isAudio?: boolean;
}

/** The layouts of pairs, of parts of files, and what the playlists of pairs and single files refer to. */
export interface LayoutCaches {
  readonly pairs: LayoutCache<PairRequest>;
  readonly parts: LayoutCache<PartRequest, ClipLayout>;
  /** Of files that are no MP4. */
  readonly scans: LayoutCache<PartRequest, ClipLayout>;
  readonly presentations: LayoutCache<PresentationRequest, HlsLayout>;
  readonly places: PlaceCache;
}

const MAX_PAIR_BYTES = 64 * 1024 * 1024;
/** An hour of a clip has about 3 MB. */
const MAX_PART_BYTES = 32 * 1024 * 1024;
const MAX_PRESENTATION_BYTES = 32 * 1024 * 1024;

/** The audio was requested as it is, and has another codec than the format. */
export class OtherCodec extends UnsupportedMp4 {}

export const createLayoutCaches = (): LayoutCaches => ({
  pairs: createLayoutCache({ maxMemoryBytes: MAX_PAIR_BYTES, layOut: layOutPair }),
  parts: createLayoutCache({ maxMemoryBytes: MAX_PART_BYTES, layOut: layOutPart }),
  scans: createLayoutCache({ maxMemoryBytes: MAX_PART_BYTES, layOut: layOutScan, needsHeaders: false }),
  presentations: createLayoutCache({
    maxMemoryBytes: MAX_PRESENTATION_BYTES,
    layOut: layOutPresentation,
    needsFirstFragment: true,
  }),
  places: createPlaceCache(),
});

const packAll = (files: readonly OpenFile[]) => files.map(({ header }) => packSource(header));

const layOutPair = async (files: readonly OpenFile[], { extras }: PairRequest, reader: LayoutReader): Promise<Layout> =>
  unpackLayout(await parse(LAY_OUT_PAIR, { sources: packAll(files), extras }, reader));

async function layOutPresentation(
  files: readonly OpenFile[],
  { isAudio }: PresentationRequest,
  reader: LayoutReader,
): Promise<HlsLayout> {
  const { data, streams } = await parse(LAY_OUT_HLS, { sources: packAll(files), isAudio }, reader);
  return addStreams(unpackLayout(data), streams);
}

async function layOutPart(files: readonly OpenFile[], request: PartRequest, reader: LayoutReader): Promise<ClipLayout> {
  const { audioAs, extras, isFromKeyframe } = request;
  const times = isFromKeyframe ? await findKeyframe(files, request.times, reader) : request.times;
  const single: readonly TrackKind[] = audioAs ? ['soun'] : ['vide', 'soun'];
  const kindsOf = (index: number): readonly TrackKind[] =>
    files.length === 1 ? single : [index === 0 ? 'vide' : 'soun'];
  const sources = await Promise.all(
    files.map((file, index) =>
      readClipSource(file, { times, audioAs, kinds: kindsOf(index) }, { files: files.length, signal: reader.signal }),
    ),
  );
  const options = { ...extras, container: audioAs?.container };
  const { data, ...shown } = await parse(LAY_OUT_CLIP, { sources, times, options }, reader);
  return { ...unpackLayout(data), ...shown };
}

/** A longer file is copied by FFmpeg: all of it is read before the first byte is sent. */
const MAX_SCANNED_BYTES = 256 * 1024 * 1024;

async function layOutScan(
  [open]: readonly OpenFile[],
  { audioAs, extras }: PartRequest,
  { signal }: LayoutReader,
): Promise<ClipLayout> {
  const { container } = audioAs ?? {};
  const scan = container && container !== 'm4a' ? audioFiles[container].scan : undefined;
  if (!open || !scan || !extras?.tags || open.file.size > MAX_SCANNED_BYTES)
    throw new UnsupportedMp4('A file whose packets are not looked up');
  const reader = new ByteReader(open.file, () => open.file.size);
  const destroy = () => reader.destroy();
  signal.addEventListener('abort', destroy, { once: true });
  try {
    signal.throwIfAborted();
    const steps = scan(open.file.size, extras.tags);
    let [held, heldAt] = [Buffer.alloc(0), 0];
    for (let step = steps.next(held); ; ) {
      if (step.done) return step.value;
      const { at, bytes } = step.value;
      held = held.subarray(Math.min(at - heldAt, held.length));
      heldAt = at;
      if (held.length < bytes) {
        reader.seek(at + held.length);
        held = Buffer.concat([held, await reader.read(bytes - held.length)]);
      }
      step = steps.next(held.subarray(0, bytes));
    }
  } finally {
    signal.removeEventListener('abort', destroy);
    destroy();
  }
}

/** Enough to find the keyframe: what follows it is not read beyond the frame at the start. */
const KEYFRAME_SEARCH_SECONDS = 1;

/** The times from the keyframe at or before the start on, by the video alone: the audio is read from there. */
async function findKeyframe([file]: readonly OpenFile[], times: ClipTimes, reader: LayoutReader): Promise<ClipTimes> {
  if (!file || !listTrackKinds(file.header.movie).includes('vide')) return times;
  const { startSeconds } = times;
  const around = { startSeconds, endSeconds: startSeconds + KEYFRAME_SEARCH_SECONDS };
  const source = await readClipSource(file, { times: around, kinds: ['vide'] }, { files: 1, signal: reader.signal });
  const input = { sources: [source], times: around, options: { isFromKeyframe: true } };
  const found = await parse(LAY_OUT_CLIP, input, reader);
  // An edit list may begin behind the first keyframe.
  return { ...times, startSeconds: Math.max(0, found.startSeconds) };
}

/** @throws OtherCodec */
function requireCodec(header: TrackHeader, { codec: wanted }: AudioCopy): void {
  const codec = codecString(header.sampleDescriptions);
  // Other object types of `mp4a` are MP3, AC-3 and so on.
  const isWanted = audioFamily(codec) === wanted && (wanted !== 'aac' || codec.startsWith('mp4a.40.'));
  if (!isWanted) throw new OtherCodec(`The audio is not ${wanted}`);
}

interface TrackSelection extends Pick<PartRequest, 'times' | 'audioAs'> {
  readonly kinds: readonly TrackKind[];
}

/** A file with the fragments that the clip needs. @throws OtherCodec */
async function readClipSource(
  { file, header }: OpenFile,
  { kinds, times, audioAs }: TrackSelection,
  reading: Parameters<typeof readMovieFragments>[2],
): Promise<ClipSource> {
  const { video, audio } = parseFileTracks(header, kinds);
  if (audioAs && audio) requireCodec(audio, audioAs);
  const { fragments: index, fileBytes } = header;
  const source = { header: packSource(header), kinds };
  if (index) {
    const entries = selectFragments(index, { video, audio }, { ...times, fileBytes });
    return { ...source, fragments: packFragments(await readMovieFragments(file, entries, reading)) };
  }
  if (video?.fragmentDefaults ?? audio?.fragmentDefaults) throw new UnsupportedMp4('Fragments without an index');
  return source;
}
