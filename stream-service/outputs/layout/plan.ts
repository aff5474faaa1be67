import { type FileType, fileType } from '@reelay/seekable-media/codecs';
import { isWhole } from '@reelay/seekable-media/skipping';
import type { SoundName } from '@reelay/seekable-media/virtual-mp4';
import { recordingText } from '../../../core/conversions/index.ts';
import { NotFound } from '../../../core/errors/index.ts';
import type { KeyedRendition, Track } from '../../../core/state/index.ts';
import type { PlannedExtras } from '../extras.ts';
import { COMBINED, type MuxPlan } from '../mux/index.ts';
import type { RemuxPlan } from '../remux/index.ts';
import type { ClipTimes, PlannedOutput } from '../representation.ts';
import type { AudioCopy } from '../writers.ts';

/**
 * A file with length and ranges that exists only as a layout of the tracks of a rendition: it has their bytes behind a
 * header of its own. The headers of the tracks decide whether there is one.
 */
export type LayoutPlan = PairPlan | PartPlan | PresentationPlan;

interface PlannedLayout extends PlannedOutput {
  readonly kind: 'layout';
  readonly found: KeyedRendition;
  /** Distinguishes the layout from others, together with its extras. */
  readonly id: string;
  /** What is sent where the files have no layout. Absent: nothing can be. */
  readonly instead?: MuxPlan | RemuxPlan;
}

/** A video and an audio file as one MP4. */
export interface PairPlan extends PlannedLayout {
  readonly of: 'pair';
  readonly extras: PlannedExtras;
}

/** A part of an MP4 file or of a pair of them, or the whole. */
export interface PartPlan extends PlannedLayout {
  readonly of: 'part';
  readonly extras: PlannedExtras;
  readonly times: ClipTimes;
  /** The audio alone, whose packets are copied. Absent: all tracks. */
  readonly audioAs?: AudioCopy;
  /** Its packets are looked up in a file that is no MP4. */
  readonly isScanned?: boolean;
  /** It starts with the last keyframe at or before the start. */
  readonly isFromKeyframe?: true;
}

/** The files of an HLS presentation: the media that its playlists refer to, or a playlist by its file name. */
export interface PresentationPlan extends PlannedLayout {
  readonly of: 'presentation';
  /** All tracks of the presentation. */
  readonly presented: readonly Track[];
  /** Absent: the media. Chapters are no playlist, and named as one. */
  readonly playlist?: string;
  /** The ETag of the media that the playlist was written for, without quotes. Absent: any. */
  readonly entity?: string;
  /** The parameter that chose the audio, for the URIs in playlists. */
  readonly audio?: string;
  /** What the audio is called. Absent: unknown. */
  readonly sound?: SoundName;
  /** Place, from 2, of the audio in a further language, which has a file of its own. Absent: the video with the first audio. */
  readonly place?: number;
  /** The audio in further languages, for the master playlist. */
  readonly dubs?: readonly PresentationPlan[];
  /** The presentation where the files have no layout together. */
  readonly alternative?: PresentationPlan;
}

const WHOLE: ClipTimes = { startSeconds: 0, endSeconds: Number.POSITIVE_INFINITY };
/** Known only once the headers of the files are read. */
const UNKNOWN = { size: undefined, acceptRanges: undefined } as const;

export const planPair = (found: KeyedRendition, extras: PlannedExtras, instead: MuxPlan): PairPlan => ({
  kind: 'layout',
  of: 'pair',
  found,
  extras,
  instead,
  id: found.key,
  answersHead: false,
  head: { ...instead.head, ...UNKNOWN },
});

/** A whole MP4 file with extras. */
export const planExtended = (found: KeyedRendition, extras: PlannedExtras, instead: RemuxPlan): PartPlan =>
  planPart(found, extras, { instead, times: WHOLE, id: `${found.key} whole`, head: headOf(found, COMBINED) });

/** @param found of MP4 files */
export function planClip(found: KeyedRendition, extras: PlannedExtras, clip: ClipTimes): PartPlan {
  const { key, rendition, tracks } = found;
  const [{ file, container, video }] = tracks;
  const single = file ? fileType(container, video !== null) : rendition;
  const head = headOf(found, tracks.length > 1 ? COMBINED : single, clip);
  return planPart(found, extras, { times: clip, id: `${key} ${timesId(clip)}`, head });
}

/** From the last keyframe at or before a time on, without a wait for the frames in between. */
export const planFromKeyframe = (found: KeyedRendition, extras: PlannedExtras, clip: ClipTimes): PartPlan => ({
  ...planClip(found, extras, clip),
  id: `${found.key} keyframe ${timesId(clip)}`,
  isFromKeyframe: true,
});

export interface AudioAlone extends Pick<PartPlan, 'instead' | 'isScanned'> {
  readonly type: FileType;
  readonly audioAs: AudioCopy;
  /** @default the whole */
  readonly clip?: ClipTimes;
}

/** The audio of an MP4 file in a file of its own, or a part of it. */
export function planAudioAlone(
  found: KeyedRendition,
  extras: PlannedExtras,
  { type, audioAs, clip: times = WHOLE, instead, isScanned }: AudioAlone,
): PartPlan {
  const id = `${found.key} ${audioAs.container} ${timesId(times)}`;
  return planPart(found, extras, { instead, isScanned, times, audioAs, id, head: headOf(found, type, times) });
}

const planPart = (
  found: KeyedRendition,
  extras: PlannedExtras,
  part: Omit<PartPlan, 'kind' | 'of' | 'found' | 'extras' | 'answersHead'>,
): PartPlan => ({ kind: 'layout', of: 'part', found, extras, answersHead: false, ...part });

const headOf = ({ resource }: KeyedRendition, { mimeType, fileExtension }: FileType, times = WHOLE) => ({
  mimeType,
  fileExtension,
  ...UNKNOWN,
  clip: isWhole(times) ? undefined : nameClip(times, resource.durationSeconds),
});

const timesId = ({ startSeconds, endSeconds, skipped = [] }: ClipTimes): string =>
  [`${startSeconds}-${endSeconds}`, ...skipped.map(timesId)].join(' without ');

/** The requested times, which name the clip; an end beyond the media is that of the media, in whole seconds. */
export const nameClip = ({ startSeconds, endSeconds }: ClipTimes, mediaEnd = endSeconds): ClipTimes => ({
  startSeconds,
  endSeconds: endSeconds <= mediaEnd ? endSeconds : Math.round(mediaEnd),
});

/** The presentation has no such file, or no longer. */
export class NoSuchFile extends NotFound {}

/** The part of a request below the key. */
export interface PresentationFile {
  /** The last segment of the path. */
  readonly name: string;
  /** As in `PresentationPlan`. */
  readonly entity?: string;
  readonly audio?: string;
  readonly sounds?: readonly SoundName[] | undefined;
}

export const MASTER_NAME = 'master.m3u8';
export const CHAPTERS_NAME = 'chapters.json';
const ofPlace = (place = 1): string => (place > 1 ? `-${place}` : '');
/** `both.m3u8` where the segments have both; `audio-2.m3u8` for the second language. */
export const playlistName = ({ kind, place }: { readonly kind: string; readonly place?: number }): string =>
  `${kind}${ofPlace(place)}.m3u8`;
/** The file that playlists refer to: `media-2.mp4` for the second language. */
export const mediaName = (place?: number): string => `media${ofPlace(place)}.mp4`;
const PLACE = /^(?:audio|media)-(\d{1,2})\./;
const PLAYLIST = /^(?:master|video|both|audio(?:-\d{1,2})?)\.m3u8$/;
const PLAYLIST_TYPE = {
  mimeType: 'application/vnd.apple.mpegurl',
  fileExtension: '.m3u8',
  isInline: true,
} as const;
const CHAPTERS_TYPE = { mimeType: 'application/json', fileExtension: '.json', isInline: true } as const;
const MEDIA_TYPE = { mimeType: 'video/mp4', fileExtension: '.mp4', isInline: true } as const;

/**
 * A file of the HLS presentation (RFC 8216) of a pair or of a single MP4 file: playlists, and one MP4 with everything
 * that they refer to by byte range. The audio in a further language has a playlist and an MP4 of its own, so that the
 * rest plays where its source fails. No media is converted.
 * @param found of MP4 files, with the audio of all languages
 * @param own the same with its own audio, which is presented alone where the original has no layout with the video
 * @throws NotFound for another name
 */
export function planPresentation(
  found: KeyedRendition,
  file: PresentationFile,
  own?: KeyedRendition,
): PresentationPlan {
  const name = file.name.toLowerCase();
  const place = Number(PLACE.exec(name)?.[1] ?? 1);
  const [first, second, ...others] = place > 1 ? found.tracks.slice(place, place + 1) : found.tracks;
  const isMedia = name === mediaName(place);
  const isChapters = name === CHAPTERS_NAME && recordingText(found.resource).chapters !== undefined;
  if (!first || !(isMedia || isChapters || PLAYLIST.test(name))) throw new NoSuchFile('No such file');
  const tracks: KeyedRendition['tracks'] = second ? [first, second] : [first];
  const { audio, sounds } = file;
  const dubOf = (_: Track, index: number) =>
    planPresentation(found, { ...file, name: playlistName({ kind: 'audio', place: index + 2 }) });
  const base = {
    kind: 'layout' as const,
    of: 'presentation' as const,
    found: { ...found, tracks },
    presented: found.tracks,
    answersHead: false,
    id: `${found.key} hls${ofPlace(place)}`,
    audio,
    sound: sounds?.[place - 1],
    ...(place > 1 ? { place } : { alternative: own && planPresentation(own, { ...file, sounds: undefined }) }),
    ...(name === MASTER_NAME && { dubs: others.map(dubOf) }),
  };
  if (isMedia) return { ...base, entity: file.entity, head: { ...MEDIA_TYPE, ...UNKNOWN } };
  return { ...base, playlist: name, head: { ...(isChapters ? CHAPTERS_TYPE : PLAYLIST_TYPE), ...UNKNOWN } };
}
