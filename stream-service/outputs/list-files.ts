import { setTimeout as sleep } from 'node:timers/promises';
import { audioFamily, videoFamily } from '@reelay/seekable-media/codecs';
import type { TrackFile } from '@reelay/source/track';
import { capabilitiesOf, type KeyedRendition, type Track } from '../../core/state/index.ts';
import type { SourceOpeners } from '../source/index.ts';
import { FURTHER_WAIT_MS } from './layout/index.ts';
import { remuxContainer } from './output-formats.ts';
import type { Opening, PlannedOutput, RenditionQuery } from './representation.ts';

/** Lists of segments by the ids of their formats: as which file each is read. `null`: it makes none, or nobody knows yet. */
export type ListFiles = ReadonlyMap<string, TrackFile | null>;

/** What is sent is decided once it is known whether some lists of segments are files. */
export interface ListPlan extends PlannedOutput {
  readonly kind: 'list';
  readonly found: KeyedRendition;
  readonly query: RenditionQuery;
  /** Those whose file is not known yet. */
  readonly lists: readonly Track[];
  /** The same of further heights, which are left out where they take longer. They may share tracks with these. */
  readonly further: readonly Track[];
  /** What is known of others. */
  readonly files: ListFiles;
  /** Nothing else can be sent. */
  readonly isNeeded: boolean;
}

export interface ListDependencies {
  /** @default lists of segments are no files */
  readonly findFile?: SourceOpeners['findFile'];
}

/** The file of a list that may be one, until that is known. */
const UNKNOWN: TrackFile = {};
/** Segments of these are joined in ways of their own. */
const OTHER_CONTAINERS = /^(flv|webm|mkv|weba)$/i;
const MATROSKA = /^(webm|weba|mkv|mka)$/i;
/** What is read of Matroska; an unknown codec is that of its header. */
const VIDEO_FAMILIES: readonly unknown[] = ['vp9', 'av1'];

export const mayBeFile = (track: Track): boolean =>
  // A segment alone is part of a presentation.
  !track.window?.part &&
  remuxContainer(track) === 'mp4' &&
  (capabilitiesOf(track).isFile ? mayHaveCues(track) : !OTHER_CONTAINERS.test(track.container));

const mayHaveCues = ({ container, video, audio }: Track): boolean =>
  MATROSKA.test(container) &&
  (!video?.codec || VIDEO_FAMILIES.includes(videoFamily(video.codec))) &&
  (!audio?.codec || audioFamily(audio.codec) === 'opus');

/** @param isPart whether files, too, are read as other files than they are */
export const hasLists = ({ resource, tracks }: KeyedRendition, isPart: boolean): boolean =>
  !resource.isLive && tracks.some((track) => mayBeFile(track) && (isPart || !capabilitiesOf(track).isFile));

/** The rendition with its lists, and files of Matroska, as the MP4 files that they are read as, or may be. */
export function withFiles(found: KeyedRendition, files: ListFiles): KeyedRendition {
  const mark = (track: Track): Track => {
    const file = mayBeFile(track) ? files.get(track.formatId) : null;
    if (file === null) return track;
    const container = track.video ? 'mp4' : 'm4a';
    return { ...track, file: file ?? UNKNOWN, container, sizeIsExact: false, sizeBytes: undefined };
  };
  const [first, ...others] = found.tracks;
  const { resource } = found;
  return {
    ...found,
    resource: { ...resource, tracks: resource.tracks.map(mark) },
    tracks: [mark(first), ...others.map(mark)],
  };
}

/** The audio of a list with video, as a file; undefined where its size is not known. */
export function audioOfList({ file, ...track }: Track): Track | undefined {
  if (!file || file.isAudioSized === false) return undefined;
  return { ...track, video: null, file: file === UNKNOWN ? file : { ...file, isAudioAlone: true } };
}

/** The tracks whose file is not known. */
export const unknownLists = (tracks: readonly Track[]): readonly Track[] => [
  ...new Map(tracks.filter(({ file }) => file === UNKNOWN).map((track) => [track.formatId, track])).values(),
];

/** What is known of the lists of a plan, once each has been asked for. */
export async function findFiles(
  { found: { resource }, lists, further, files, isNeeded }: ListPlan,
  { session, isForHead }: Opening,
  { findFile }: ListDependencies,
): Promise<ListFiles> {
  const { signal, client } = session;
  const find = async (track: Track, isDetached: boolean, tooLate?: Promise<undefined>) => {
    const finding = findFile?.(resource, track, { signal, client, isDetached, isNeeded });
    const file = await (tooLate ? Promise.race([finding, tooLate]) : finding);
    return [track.formatId, file ?? null] as const;
  };
  const own = Promise.all(lists.map((track) => find(track, isForHead)));
  // They go on without this stream, so that they are known to the next one.
  const tooLate = () => own.then(() => sleep(FURTHER_WAIT_MS, undefined, { ref: false }));
  const others = further.map((track) => find(track, true, tooLate()));
  const [known, ...rest] = await Promise.all([own, ...others]);
  return new Map([...files, ...rest, ...known]);
}
