import { deadlineSignal } from '@reelay/concurrency';
import { UnsupportedMp4 } from '@reelay/seekable-media/isobmff';
import {
  type HlsStream,
  type ListedStream,
  mapToStream,
  writeDashManifest,
  writeHlsChapters,
  writeMasterPlaylist,
  writeMediaPlaylist,
  writeTextPlaylist,
} from '@reelay/seekable-media/mp4-hls';
import type { SoundName } from '@reelay/seekable-media/virtual-mp4';
import { nameOf } from '@reelay/source/names';
import pLimit from 'p-limit';
import { type Selection, toProblem, writeSelection } from '../../../core/api/index.ts';
import { recordingText } from '../../../core/conversions/index.ts';
import { NotFound, UnsupportedRendition } from '../../../core/errors/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import { versionOf } from '../../source/index.ts';
import { inMemory, type Opening, type RenditionQuery, type Representation } from '../representation.ts';
import { listTexts, planText, readText, type TextPlan } from '../text.ts';
import type { LayoutCaches } from './layout-caches.ts';
import { type PlannedLayout, UNKNOWN } from './plan.ts';
import type { KnownLayout, LayoutRequest } from './read-layout.ts';

/** A file of an HLS presentation: the media of a track, subtitles, or a playlist. */
export interface PresentationPlan extends PlannedLayout {
  readonly of: 'presentation';
  /** The track alone of a file that may have others. Absent: all that it has. */
  readonly only?: 'vide' | 'soun' | undefined;
  /** Absent: the media. */
  readonly playlist?: PlannedPlaylist;
  /** Subtitles of the presentation. With `playlist`, that of them. */
  readonly text?: TextPlan;
  /** What is selected: `entity`, the name of the media that the playlist was written for; `audio`, for its URIs. */
  readonly selection: Selection;
}

/** What a playlist lists, or only names. */
export interface PlannedPlaylist {
  /** In lower case. Chapters are no playlist, and named as one. */
  readonly name: string;
  /** The video with the audio of each language, or one file. */
  readonly streams: readonly [PlannedStream, ...PlannedStream[]];
  /** The video in other heights. */
  readonly rungs: readonly PlannedStream[];
}

export interface PresentedHeight {
  /** Of MP4 files, with the audio of all languages. */
  readonly found: KeyedRendition;
  /** What the names of its files begin with. @default nothing */
  readonly prefix?: string | undefined;
}

/** A track, which has a file and a playlist of its own: the rest plays where its source fails. */
export interface PlannedStream extends LayoutRequest {
  /** Relative to what lists it, without an extension. */
  readonly path: string;
  /** As in `PresentedHeight`. */
  readonly prefix: string;
  readonly sound: SoundName | undefined;
  /** The audio of a file that may have both, which is listed where the file has to be split. */
  readonly ownSound?: PlannedStream;
  /** Nobody knows whether there is one. @default false */
  readonly isOptional?: boolean;
}

/** The presentation has no such file, or no longer. */
export class NoSuchFile extends NotFound {}

const MASTER_NAME = 'master.m3u8';
const CHAPTERS_NAME = 'chapters.json';
/** A master playlist and a DASH manifest of every height. */
const LADDERS = ['all.m3u8', 'all.mpd'];
export const isLadder = (file: string): boolean => LADDERS.includes(file.toLowerCase());
const isDash = (file: string): boolean => file.endsWith('.mpd');
const PLAYLIST_TYPE = {
  mimeType: 'application/vnd.apple.mpegurl',
  fileExtension: '.m3u8',
  isInline: true,
} as const;
const DASH_TYPE = { mimeType: 'application/dash+xml', fileExtension: '.mpd', isInline: true } as const;
const CHAPTERS_TYPE = { mimeType: 'application/json', fileExtension: '.json', isInline: true } as const;
const MEDIA_TYPE = { mimeType: 'video/mp4', fileExtension: '.mp4', isInline: true } as const;

/**
 * A file of the HLS presentation (RFC 8216) of a pair or of a single MP4 file: playlists, and an MP4 for each track, to which they refer by
 * byte range. No media is converted.
 * @param heights the rendition, and for what lists them all, those of other heights
 * @param isMp4 whether a track is an MP4 file, or may be one: it has a file of the presentation
 * @throws NotFound for another name
 */
export function planPresentation(
  heights: readonly PresentedHeight[],
  { file = '', ...selection }: RenditionQuery,
  isMp4: (track: Track) => boolean,
): PresentationPlan {
  const prefix = heights[0]?.prefix ?? '';
  const name = file.startsWith(prefix) ? prefix + file.slice(prefix.length).toLowerCase() : file;
  // Where that of the key makes no file, another height is first.
  const [[first, ...others] = [], ...rungs] = heights
    .map((height) => streamsOf(height, isMp4))
    .filter((streams) => streams.length > 0);
  const isChapters = name === CHAPTERS_NAME && first && recordingText(first.found.resource).chapters !== undefined;
  const isList = name === MASTER_NAME || isLadder(name);
  const named = [first, ...others, first?.ownSound].find(
    (stream) => stream && [`${stream.path}.m3u8`, `${stream.path}.mp4`].includes(name),
  );
  const [, textId] = TEXT_FILE.exec(file.slice(prefix.length)) ?? [];
  const text = first && planText(first.found.resource, textId);
  const own = isList || isChapters || text ? first : named;
  if (!first || !own) throw new NoSuchFile('No such file');
  const isMedia = name.endsWith('.mp4') || name.endsWith('.vtt');
  const type = isMedia
    ? text
      ? { ...text.head, isInline: true }
      : MEDIA_TYPE
    : isChapters
      ? CHAPTERS_TYPE
      : isDash(name)
        ? DASH_TYPE
        : PLAYLIST_TYPE;
  const streams: PlannedPlaylist['streams'] = isList ? [first, ...others] : [own];
  return {
    kind: 'layout',
    of: 'presentation',
    found: own.found,
    id: own.id,
    only: own.only,
    answersHead: false,
    selection,
    ...(text && { text }),
    head: { ...type, ...UNKNOWN },
    ...(!isMedia && { playlist: { name, streams, rungs: rungs.flatMap(([video]) => video ?? []) } }),
  };
}

/** Names of the files of subtitles. Their ids tell cases apart. */
const TEXT_FILE = /^text-([\w-]+)\.(?:vtt|m3u8)$/i;

/** The streams of a rendition that are files of MP4, the first one of which has the video, if there is one. */
function streamsOf(
  { found, prefix = '' }: PresentedHeight,
  isMp4: (track: Track) => boolean,
): readonly PlannedStream[] {
  const { key, resource, rendition, tracks, sounds = [] } = found;
  const [first] = tracks;
  if (!isMp4(first)) return [];
  return tracks.flatMap((track, index) => {
    if (!isMp4(track)) return [];
    const isVideo = index === 0 && first.video !== null;
    const only = tracks.length === 1 ? undefined : isVideo ? 'vide' : 'soun';
    const name = isVideo ? (only || !first.audio ? 'video' : 'both') : index > 1 ? `audio-${index}` : 'audio';
    const streamOf = (kind: PlannedStream['only'], file: string, sound?: SoundName): PlannedStream => ({
      of: 'presentation',
      id: nameOf([versionOf(resource, track)], 'hls', kind),
      found: { key, resource, rendition, tracks: [track] },
      only: kind,
      path: prefix + file,
      prefix,
      sound,
    });
    if (!isVideo) return streamOf(only, name, sounds[Math.max(0, index - 1)]);
    return only
      ? streamOf(only, name)
      : { ...streamOf(only, name), ownSound: { ...streamOf('soun', 'audio'), isOptional: true } };
  });
}

/** @throws UnsupportedRendition when there is none, and what reading the headers of its first files throws */
export async function openPlaylist(
  { found: { resource }, head, text, selection }: PresentationPlan,
  { name, streams: [own, ...sounds], rungs }: PlannedPlaylist,
  opening: Opening,
  layouts: LayoutCaches,
): Promise<Representation> {
  const { chapters } = recordingText(resource);
  if (chapters && name === CHAPTERS_NAME) return inMemory(head, Buffer.from(writeHlsChapters(chapters)));
  const loading = layouts.load(own, opening);
  if (name !== MASTER_NAME && !isLadder(name)) {
    const known = await loading;
    if (known instanceof Error && own.isOptional) throw new NoSuchFile('No such playlist');
    const listed = listStream(own, known, selection);
    const written = text
      ? writeTextPlaylist(listed, textUri(own, text.id, '.vtt', selection))
      : writeMediaPlaylist(listed);
    return inMemory(head, Buffer.from(written));
  }
  const [video, firstSound, heights, otherSounds] = await Promise.all([
    loading.catch((error: Error) => error),
    sounds[0] && layouts.load(sounds[0], opening),
    loadAll(rungs, opening, layouts),
    loadAll(sounds.slice(1), opening, layouts),
  ]);
  opening.session.signal.throwIfAborted();
  const list = (loaded: readonly Loaded[]) =>
    loaded.flatMap(({ stream, known }) => (known instanceof Error ? [] : listStream(stream, known, selection)));
  // What cannot be read is left out: players have the others.
  const shown = [{ stream: own, known: video }, ...heights].filter(({ known }) => known && !(known instanceof Error));
  const [lead] = shown;
  const [first, ...others] = list(shown);
  if (!lead || !first) throw video instanceof UnsupportedMp4 ? unsupported(video) : video;
  const ownSound = first.isSplit ? lead.stream.ownSound : undefined;
  const heard = list([
    ...(ownSound ? [{ stream: ownSound, known: await layouts.load(ownSound, opening) }] : []),
    ...(sounds[0] ? [{ stream: sounds[0], known: firstSound }] : []),
    ...otherSounds,
  ]);
  if (firstSound instanceof Error && heard.length === 0) throw unsupported(firstSound);
  const isNear = ({ segments, startSeconds }: ListedStream) =>
    segments.length === 0 || Math.abs(startSeconds - first.startSeconds) <= MAX_OFFSET_SECONDS;
  const alike = others.filter(({ kind }) => kind === first.kind);
  const all = [first, ...[...alike, ...withOneCodec(heard, selection)].filter(isNear)];
  const texts = listTexts(resource).map(({ id, ...named }) => ({
    ...named,
    file: textUri(lead.stream, id, '.vtt', selection),
    playlist: textUri(lead.stream, id, '.m3u8', selection),
  }));
  const written = isDash(name)
    ? writeDashManifest(all, texts)
    : writeMasterPlaylist(all, texts, chapters && CHAPTERS_NAME);
  return inMemory(head, Buffer.from(written));
}

/**
 * Opens subtitles on the clock of the media. Those that cannot be read have no cues: to players, a file of a presentation that is
 * missing is the end of all of it.
 * @throws what reading the headers of the media throws
 */
export async function openPresentedText(
  plan: PresentationPlan,
  text: TextPlan,
  opening: Opening,
  layouts: LayoutCaches,
): Promise<Representation> {
  const known = await layouts.load(plan, opening);
  if (known instanceof Error) throw unsupported(known);
  const write = (webVtt: string) =>
    inMemory(plan.head, Buffer.from(mapToStream(webVtt, known.layout.stream ?? UNREAD)));
  try {
    return write(await readText(text, opening));
  } catch (error) {
    opening.session.signal.throwIfAborted();
    const { title } = toProblem(error).details;
    // Without a length it is not cached.
    return { ...write(`WEBVTT\n\nNOTE The source cannot be read: ${title}\n`), ...UNKNOWN, etag: undefined };
  }
}

/** What is known of a stream. Absent: its source fails, or takes longer. */
interface Loaded {
  readonly stream: PlannedStream;
  readonly known?: KnownLayout | Error | undefined;
}

/** @throws UnsupportedRendition where its file has no layout */
function listStream(
  { path, sound }: PlannedStream,
  known: KnownLayout | Error | undefined,
  { audio }: Selection,
): ListedStream {
  if (known instanceof Error) throw known instanceof UnsupportedMp4 ? unsupported(known) : known;
  const stream = known?.layout.stream ?? UNREAD;
  const file = uriOf(`${path}.mp4`, { audio, entity: known?.name });
  return { ...stream, sound, file, playlist: uriOf(`${path}.m3u8`, { audio }) };
}

function uriOf(file: string, selection: Selection): string {
  const query = String(writeSelection('HlsFile', selection));
  return file + (query && `?${query}`);
}

/** Of subtitles, whose times are those of a stream. */
const textUri = ({ prefix }: PlannedStream, id: string, extension: '.vtt' | '.m3u8', { audio }: Selection) =>
  uriOf(`${prefix}text-${id}${extension}`, { audio });

/** Reads the headers of further files: those that fail, or take longer, are not known. */
async function loadAll(
  streams: readonly PlannedStream[],
  opening: Opening,
  layouts: LayoutCaches,
): Promise<readonly Loaded[]> {
  const limit = pLimit(PARALLEL_FILES);
  const { session } = opening;
  const signal = deadlineSignal({ deadline: Date.now() + FURTHER_WAIT_MS, signal: session.signal });
  const bounded = { ...opening, session: { ...session, signal } };
  return limit.map(streams, async (stream) => {
    try {
      return { stream, known: await layouts.load(stream, bounded) };
    } catch {
      session.signal.throwIfAborted();
      return { stream };
    }
  });
}

/** Files whose headers are read at a time. */
const PARALLEL_FILES = 4;
/** For further files: nothing plays before the master playlist is there. */
export const FURTHER_WAIT_MS = 3000;
/** Beyond this, the clocks of two tracks are unrelated. */
const MAX_OFFSET_SECONDS = 30;
/** Listed in place of audio whose source fails or takes longer: its own playlist says why, and the rest plays. */
const UNREAD: HlsStream = {
  kind: 'audio',
  codecs: [],
  startSeconds: 0,
  segments: [],
  isIndependent: true,
  initBytes: 0,
};

/**
 * A player refuses a variant stream, and so all of it, when it cannot decode one of its codecs: audio in other codecs than the first one is
 * left out unless it is asked for.
 */
function withOneCodec(heard: readonly ListedStream[], { audio }: Selection): readonly ListedStream[] {
  const own = audio === undefined ? heard.find(({ codecs }) => codecs.length > 0) : undefined;
  return heard.filter((stream) => !own || stream.codecs.length === 0 || codecOf(stream) === codecOf(own));
}

/** The object type tells MP3 from AAC, which are `mp4a` both; what follows is a profile. */
const codecOf = ({ codecs: [codec = ''] }: HlsStream): string => codec.split('.', 2).join('.');

export const unsupported = (reason: UnsupportedMp4): UnsupportedRendition =>
  new UnsupportedRendition(`An HLS playlist cannot be made of this item: ${reason.message}.`, { cause: reason });
