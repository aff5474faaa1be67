import { audioFamily } from '../../core/media/codecs/index.ts';
import { listTrackKinds, type TrackHeader, UnsupportedMp4 } from '../../core/media/isobmff/index.ts';
import {
  type ClipLayout,
  type ClipTimes,
  type ClipTrack,
  clipFragments,
  fragmentedClipTrack,
  layOutClip,
  parseFileTracks,
  sampledClipTrack,
  type TrackKind,
} from '../../core/media/mp4-clip/index.ts';
import { codecString, type HlsLayout, layOutHls } from '../../core/media/mp4-hls/index.ts';
import { createLayout, type LayoutExtras, type SourceIndex } from '../../core/media/virtual-mp4/index.ts';
import { createLayoutCache, type LayoutCache } from './layout-cache.ts';
import type { LayoutRequest, OpenFile } from './read-layout.ts';
import { readMovieFragments } from './read-movie-fragments.ts';

/** A pair: source 0 has the video, source 1 the audio. The id begins with its key. */
export interface PairRequest extends LayoutRequest {
  readonly extras?: LayoutExtras;
}

/** The layouts of pairs. */
export type Layouts = LayoutCache<PairRequest>;

const MAX_PAIR_BYTES = 64 * 1024 * 1024;

/** @param now epoch milliseconds */
export const createLayouts = (now: () => number = Date.now): Layouts =>
  createLayoutCache({
    now,
    maxMemoryBytes: MAX_PAIR_BYTES,
    layOut([video, audio], { extras }) {
      if (!video || !audio) throw new TypeError('A pair has two files');
      return createLayout(video.header, audio.header, extras);
    },
  });

/** What the playlists of renditions refer to: of pairs (source 0 has the video, source 1 the audio) and of single files. */
export type HlsLayouts = LayoutCache<LayoutRequest, HlsLayout>;

const MAX_HLS_BYTES = 32 * 1024 * 1024;

export const createHlsLayouts = (): HlsLayouts =>
  createLayoutCache({ maxMemoryBytes: MAX_HLS_BYTES, layOut: layOutPlaylists });

function layOutPlaylists(files: readonly OpenFile[]): HlsLayout {
  const headers = files.map(({ header }) => header);
  if (headers.length > 1) return layOutHls(headers, ['vide', 'soun']);
  const present = headers.flatMap(({ moov }) => listTrackKinds(moov));
  const kinds = (['vide', 'soun'] as const).filter((kind) => present.includes(kind));
  if (kinds.length === 0) throw new UnsupportedMp4('Neither video nor audio');
  return layOutHls(headers, kinds);
}

/** A part of a file with one or both kinds of tracks, or of a pair: source 0 has the video, source 1 the audio. */
export interface ClipRequest extends LayoutRequest {
  readonly times: ClipTimes;
  /** The audio of a single file without its video. @default false */
  readonly isAudioAlone?: boolean;
  readonly extras?: LayoutExtras;
}

/** The audio was requested as AAC, and is something else. */
export class NotAac extends UnsupportedMp4 {}

/** The layouts of clips. */
export type Clips = LayoutCache<ClipRequest, ClipLayout>;

/** An hour of a clip has about 3 MB. */
const MAX_CLIP_BYTES = 32 * 1024 * 1024;

export const createClips = (): Clips => createLayoutCache({ maxMemoryBytes: MAX_CLIP_BYTES, layOut: layOutPart });

async function layOutPart(files: readonly OpenFile[], request: ClipRequest, signal: AbortSignal) {
  const { times, isAudioAlone, extras } = request;
  const single: readonly TrackKind[] = isAudioAlone ? ['soun'] : ['vide', 'soun'];
  const kinds = files.length > 1 ? [['vide'] as const, ['soun'] as const] : [single];
  const read = files.map((file, index) =>
    readTracks(file, { kinds: kinds[index] ?? [], source: index === 0 ? 0 : 1, times }, signal),
  );
  const [{ video, audio } = {}, second] = await Promise.all(read);
  if (isAudioAlone && audio) requireAac(audio.header);
  return layOutClip({ video, audio: second?.audio ?? audio }, times, { ...extras, isM4a: isAudioAlone });
}

/** @throws NotAac */
function requireAac(header: TrackHeader): void {
  const codec = codecString(header.sampleDescriptions);
  // Other object types of `mp4a` are MP3, AC-3 and so on.
  if (!codec.startsWith('mp4a.40.') || audioFamily(codec) !== 'aac') throw new NotAac('The audio is not AAC');
}

interface TrackSelection {
  readonly kinds: readonly TrackKind[];
  readonly source: SourceIndex;
  readonly times: ClipTimes;
}

async function readTracks(
  { file, header }: OpenFile,
  { kinds, source, times }: TrackSelection,
  signal: AbortSignal,
): Promise<{ readonly video?: ClipTrack; readonly audio?: ClipTrack }> {
  const { video, audio } = parseFileTracks(header, kinds);
  const { fragments: index, fileBytes } = header;
  if (!index) {
    if (video?.fragmentDefaults ?? audio?.fragmentDefaults) throw new UnsupportedMp4('Fragments without an index');
    return {
      video: video && sampledClipTrack(video, source, fileBytes),
      audio: audio && sampledClipTrack(audio, source, fileBytes),
    };
  }
  const entries = clipFragments(index, { video, audio }, times, fileBytes);
  const fragments = await readMovieFragments(file, entries, signal);
  return {
    video: video && fragmentedClipTrack(video, source, fileBytes, fragments),
    audio: audio && fragmentedClipTrack(audio, source, fileBytes, fragments),
  };
}
