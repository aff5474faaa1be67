import { deadlineSignal } from '@reelay/concurrency';
import type { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  type HlsStream,
  type ListedStream,
  writeDashManifest,
  writeHlsChapters,
  writeMasterPlaylist,
  writeMediaPlaylist,
} from '@reelay/seekable-media/mp4-hls';
import { nameOf } from '@reelay/source/names';
import pLimit from 'p-limit';
import { type Selection, writeSelection } from '../../../core/api/index.ts';
import { recordingText } from '../../../core/conversions/index.ts';
import { NotFound, UnsupportedRendition } from '../../../core/errors/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import { isMp4File, versionOf } from '../../source/index.ts';
import { inMemory, type Opening, type Representation } from '../representation.ts';
import type { LayoutCaches } from './layout-caches.ts';
import { type PlannedLayout, UNKNOWN } from './plan.ts';
import type { KnownLayout } from './read-layout.ts';

/** The files of an HLS presentation: the media that its playlists refer to, or a playlist by its file name. */
export interface PresentationPlan extends PlannedLayout {
  readonly of: 'presentation';
  /** All tracks of the presentation. */
  readonly presented: readonly Track[];
  /** Absent: the media. Chapters are no playlist, and named as one. */
  readonly playlist?: string;
  /** What is selected: `entity`, the name of the media that the playlist was written for; `audio`, for its URIs. */
  readonly selection: Selection;
  /** Place, from 2, of the audio in a further language, which has a file of its own. Absent: the video with the first audio. */
  readonly place?: number;
  /** The audio in further languages, for the master playlist. */
  readonly dubs?: readonly PresentationPlan[];
  /** Where its files are, from those of the rendition that was asked for. @default beside them */
  readonly folder?: string | undefined;
  /** Time 0 of its files on the clock of their lists, where it is that of further files. Absent: when the first of these begins. */
  readonly originSeconds?: number | undefined;
  /** The same in other heights, for the playlist or manifest of all: their files have one time 0. */
  readonly rungs?: readonly PresentationPlan[] | undefined;
  /** The presentation where the files have no layout together. */
  readonly alternative?: PresentationPlan;
}

/** The presentation has no such file, or no longer. */
export class NoSuchFile extends NotFound {}

const MASTER_NAME = 'master.m3u8';
const CHAPTERS_NAME = 'chapters.json';
/** A master playlist and a DASH manifest of every height. */
const LADDERS = ['all.m3u8', 'all.mpd'];
export const isLadder = (file: string): boolean => LADDERS.includes(file.toLowerCase());
const isDash = (file: string): boolean => file.endsWith('.mpd');
const CLOCK = /^((?:video|both|(?:audio|media)(?:-\d{1,2})?))@(-?[\d.]+(?:e-\d+)?)(?=\.\w+$)/i;
/** The name of a file without the time 0 that it is on. */
export function withoutClock(file = ''): { readonly name: string; readonly originSeconds?: number } {
  const [, originSeconds] = CLOCK.exec(file)?.slice(1) ?? [];
  return originSeconds === undefined
    ? { name: file }
    : { name: file.replace(CLOCK, '$1'), originSeconds: Number(originSeconds) };
}
/** `both.m3u8` where the segments have both; `audio-2.m3u8` for the second language; `media@1.4.mp4` on the clock of a ladder. */
const fileName = (kind: string, extension: string, place = 1, originSeconds?: number): string =>
  `${kind}${place > 1 ? `-${place}` : ''}${originSeconds === undefined ? '' : `@${originSeconds}`}${extension}`;
const PLACE = /^(?:audio|media)-(\d{1,2})\./;
const PLAYLIST = /^(?:all\.mpd|(?:all|master|video|both|audio(?:-\d{1,2})?)\.m3u8)$/;
const PLAYLIST_TYPE = {
  mimeType: 'application/vnd.apple.mpegurl',
  fileExtension: '.m3u8',
  isInline: true,
} as const;
const DASH_TYPE = { mimeType: 'application/dash+xml', fileExtension: '.mpd', isInline: true } as const;
const CHAPTERS_TYPE = { mimeType: 'application/json', fileExtension: '.json', isInline: true } as const;
const MEDIA_TYPE = { mimeType: 'video/mp4', fileExtension: '.mp4', isInline: true } as const;

interface PresentationOptions extends Pick<PresentationPlan, 'selection' | 'folder'> {
  /** Name of the file, without its time 0. */
  readonly name: string;
  /** Whether its files are named by their time 0. */
  readonly isOnSharedClock: boolean;
  readonly own?: KeyedRendition | undefined;
}

/**
 * A file of the HLS presentation (RFC 8216) of a pair or of a single MP4 file: playlists, and one MP4 with everything
 * that they refer to by byte range. The audio in a further language has a playlist and an MP4 of its own, so that the
 * rest plays where its source fails. No media is converted.
 * @param found of MP4 files, with the audio of all languages
 * @param own the same with its own audio, which is presented alone where the original has no layout with the video
 * @throws NotFound for another name
 */
export function planPresentation(found: KeyedRendition, options: PresentationOptions): PresentationPlan {
  const { own, ...shared } = options;
  const { selection, folder, isOnSharedClock } = shared;
  const name = shared.name.toLowerCase();
  const place = Number(PLACE.exec(name)?.[1] ?? 1);
  const [first, second, ...others] = place > 1 ? found.tracks.slice(place, place + 1) : found.tracks;
  const isMedia = name === fileName('media', '.mp4', place);
  const isChapters = name === CHAPTERS_NAME && recordingText(found.resource).chapters !== undefined;
  if (!first || !isMp4File(first) || !(isMedia || isChapters || PLAYLIST.test(name)))
    throw new NoSuchFile('No such file');
  const tracks: KeyedRendition['tracks'] = second ? [first, second] : [first];
  const originSeconds = tracks.find(({ file }) => file)?.file?.originSeconds;
  const dubOf = (track: Track, index: number) =>
    isMp4File(track) ? [planPresentation(found, { ...shared, name: fileName('audio', '.m3u8', index + 2) })] : [];
  const type = isMedia ? MEDIA_TYPE : isChapters ? CHAPTERS_TYPE : isDash(name) ? DASH_TYPE : PLAYLIST_TYPE;
  return {
    kind: 'layout',
    of: 'presentation',
    found: { ...found, tracks },
    presented: found.tracks,
    answersHead: false,
    id: nameOf(
      tracks.map((track) => versionOf(found.resource, track)),
      'hls',
      [found.key, place, originSeconds],
    ),
    selection,
    folder,
    originSeconds: isOnSharedClock ? originSeconds : undefined,
    ...(place > 1 ? { place } : { alternative: own && planPresentation(own, shared) }),
    ...((name === MASTER_NAME || isLadder(name)) && { dubs: others.flatMap(dubOf) }),
    ...(!isMedia && { playlist: name }),
    head: { ...type, ...UNKNOWN },
  };
}

/** @throws NotFound when the presentation has no such playlist, UnsupportedRendition when there is none */
export async function openPlaylist(
  plan: PresentationPlan,
  name: string,
  opening: Opening,
  layouts: LayoutCaches,
): Promise<Representation> {
  const { chapters } = recordingText(plan.found.resource);
  if (chapters && name === CHAPTERS_NAME) return inMemory(plan.head, Buffer.from(writeHlsChapters(chapters)));
  const known = await layouts.load(plan, opening);
  if (known instanceof Error) return refusePresentation(known);
  const streams = listStreams({ plan, known });
  const stream = streams.find(({ kind }) => fileName(kind, '.m3u8', plan.place) === name);
  if (stream) return inMemory(plan.head, Buffer.from(writeMediaPlaylist(stream)));
  if (name !== MASTER_NAME && !isLadder(name)) throw new NoSuchFile('No such playlist');
  const further = await Promise.all([
    readRungs(plan, streams, opening, layouts),
    readDubs(plan, streams, opening, layouts),
  ]);
  const all = [...streams, ...further.flat()];
  const text = isDash(name) ? writeDashManifest(all) : writeMasterPlaylist(all, chapters && CHAPTERS_NAME);
  return inMemory(plan.head, Buffer.from(text));
}

/** What is known of a presentation. */
interface Loaded {
  readonly plan: PresentationPlan;
  /** Absent: its source fails, or takes longer. */
  readonly known?: KnownLayout | UnsupportedMp4;
}

/**
 * The streams of a presentation, with the name of its audio: none where its files have no layout.
 * @param unread those of one that is not known
 */
function listStreams({ plan, known }: Loaded, unread: readonly HlsStream[] = []): readonly ListedStream[] {
  if (known instanceof Error) return [];
  const { folder = '', place = 1, originSeconds, found, selection } = plan;
  const uriOf = (kind: string, extension: string, entity?: string) => {
    const query = String(writeSelection('HlsFile', { audio: selection.audio, entity }));
    return `${folder}${fileName(kind, extension, place, originSeconds)}${query && `?${query}`}`;
  };
  return (known?.layout.streams ?? unread).map((stream) => ({
    ...stream,
    sound: stream.kind === 'audio' ? found.sounds?.[place - 1] : undefined,
    file: uriOf('media', '.mp4', known?.name),
    playlist: uriOf(stream.kind, '.m3u8'),
  }));
}

/** Reads the headers of further files: those that fail, or take longer, are not known. */
export async function loadAll(
  plans: readonly PresentationPlan[],
  opening: Opening,
  layouts: LayoutCaches,
): Promise<readonly Loaded[]> {
  const limit = pLimit(PARALLEL_FILES);
  const { session } = opening;
  const signal = deadlineSignal({ deadline: Date.now() + FURTHER_WAIT_MS, signal: session.signal });
  const bounded = { ...opening, session: { ...session, signal } };
  return limit.map(plans, async (plan) => {
    try {
      return { plan, known: await layouts.load(plan, bounded) };
    } catch {
      session.signal.throwIfAborted();
      return { plan };
    }
  });
}

/** The video in other heights, of the same form. What cannot be read is left out: players have the others. */
async function readRungs(
  { rungs = [] }: PresentationPlan,
  streams: readonly HlsStream[],
  opening: Opening,
  layouts: LayoutCaches,
): Promise<readonly ListedStream[]> {
  const loaded = await loadAll(rungs, opening, layouts);
  return loaded
    .flatMap((each) => listStreams(each))
    .filter(({ kind }) => kind !== 'audio' && kind === streams[0]?.kind);
}

/** Files whose headers are read at a time. */
const PARALLEL_FILES = 4;
/** For further files: nothing plays before the master playlist is there. */
export const FURTHER_WAIT_MS = 3000;
/** Listed in place of audio whose source fails or takes longer: its own playlist says why, and the rest plays. */
const UNREAD: HlsStream = {
  kind: 'audio',
  codecs: [],
  startSeconds: 0,
  segments: [],
  isIndependent: true,
  init: { offset: 0, bytes: 0 },
};

/**
 * The audio in further languages. A player refuses a variant stream, and so all of it, when it cannot decode one of its codecs:
 * other codecs are left out unless they are asked for, and files without a layout.
 */
async function readDubs(
  { dubs = [], selection: { audio } }: PresentationPlan,
  streams: readonly HlsStream[],
  opening: Opening,
  layouts: LayoutCaches,
): Promise<readonly ListedStream[]> {
  const own = audio === undefined ? streams.find(({ kind }) => kind === 'audio') : undefined;
  const loaded = await loadAll(dubs, opening, layouts);
  return loaded.flatMap((dub) => {
    const isHeard = (stream: HlsStream) => !own || !dub.known || codecOf(stream) === codecOf(own);
    return listStreams(dub, [UNREAD]).filter(isHeard);
  });
}

/** The object type tells MP3 from AAC, which are `mp4a` both; what follows is a profile. */
const codecOf = ({ codecs: [codec = ''] }: HlsStream): string => codec.split('.', 2).join('.');

export function refusePresentation(reason: UnsupportedMp4): never {
  throw new UnsupportedRendition(`An HLS playlist cannot be made of this item: ${reason.message}.`, { cause: reason });
}
