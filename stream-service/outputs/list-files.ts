import { setTimeout as sleep } from 'node:timers/promises';
import { audioFamily, videoFamily } from '@reelay/seekable-media/codecs';
import type { TrackFile } from '@reelay/source/track';
import { capabilitiesOf, type KeyedRendition, type Track } from '../../core/state/index.ts';
import { isMp4File, type SourceOpeners } from '../source/index.ts';
import { FURTHER_WAIT_MS } from './layout/index.ts';
import { remuxContainer } from './output-formats.ts';
import type { Opening } from './representation.ts';

/** File of each segment list that has been asked for, by format id. `undefined`: it makes none, or that takes too long to know. */
export type ListFiles = ReadonlyMap<string, TrackFile | undefined>;

/** The lists, and files of Matroska, of which it has to be known whether they are read as MP4 files. */
export interface WantedLists {
  /** Each with those that take its place when it makes no file. */
  readonly own: readonly (readonly Track[])[];
  /** Those of further heights, which are left out where they take longer. They may share tracks with these. */
  readonly further: readonly Track[];
  /** Nothing can be sent of lists that make no files. */
  readonly isNeeded: boolean;
}

export interface ListDependencies {
  /** @default lists of segments are no files */
  readonly findFile?: SourceOpeners['findFile'];
}

/** Containers whose segments cannot form an MP4 file. */
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

/** Tells whether a track is an MP4 file, or is read as one, or may be: as long as nobody has asked. @param files what is known */
export const mayBeMp4 =
  (files: ListFiles = new Map()) =>
  (track: Track): boolean =>
    isMp4File(track) || (files.has(track.formatId) ? files.get(track.formatId) !== undefined : mayBeFile(track));

export const mapTracks = (
  { tracks: [first, ...rest] }: KeyedRendition,
  change: (track: Track, index: number) => Track,
): KeyedRendition['tracks'] => [change(first, 0), ...rest.map((track, index) => change(track, index + 1))];

/** The rendition with its lists, and files of Matroska, as the MP4 files that they are read as. */
export const withFiles = (found: KeyedRendition, files: ListFiles): KeyedRendition => ({
  ...found,
  tracks: mapTracks(found, (track) => {
    const file = files.get(track.formatId);
    const container = track.video ? 'mp4' : 'm4a';
    return file ? { ...track, file, container, sizeIsExact: false, sizeBytes: undefined } : track;
  }),
});

/** The audio of a list with video, as a file; undefined where its size is not known. */
export const audioOfList = ({ file, ...track }: Track): Track | undefined =>
  file?.isAudioSized ? { ...track, video: null, file: { ...file, isAudioAlone: true } } : undefined;

/** Finds for each list whether it is a file, and which. */
export async function findFiles(
  { resource }: KeyedRendition,
  { own, further, isNeeded }: WantedLists,
  { session, isForHead }: Opening,
  { findFile }: ListDependencies,
): Promise<ListFiles> {
  const { signal, client } = session;
  const find = async (track: Track, isDetached: boolean, tooLate?: Promise<undefined>) => {
    const finding = findFile?.(resource, track, { signal, client, isDetached, isNeeded });
    return [track.formatId, await (tooLate ? Promise.race([finding, tooLate]) : finding)] as const;
  };
  const findFirst = async (lists: readonly Track[]) => {
    const known: (readonly [string, TrackFile | undefined])[] = [];
    for (const track of lists) {
      if (isMp4File(track) || known.at(-1)?.[1]) break;
      known.push(await find(track, isForHead));
    }
    return known;
  };
  const finding = Promise.all(own.map(findFirst));
  // They continue after the timeout, for the next stream.
  const tooLate = () => finding.then(() => sleep(FURTHER_WAIT_MS, undefined, { ref: false }));
  const others = further.map((track) => find(track, true, tooLate()));
  const [known, ...rest] = await Promise.all([finding, ...others]);
  return new Map([...rest, ...known.flat()]);
}
