import { opusTags, vorbisComments } from '@reelay/seekable-media/ogg';
import { mp4Tags } from '@reelay/seekable-media/tags/mp4-tags';
import { TextTooLarge, timedText } from '@reelay/seekable-media/text/text-track';
import { digestOf } from '@reelay/seekable-media/values';
import type { LayoutExtras } from '@reelay/seekable-media/virtual-mp4';
import { type AlbumPosition, recordingText } from '../../core/conversions/index.ts';
import { UnsupportedRendition } from '../../core/errors/index.ts';
import type { KeyedRendition, Resource } from '../../core/state/index.ts';
import type { Covers } from './picture.ts';
import type { ClipTimes, Opening } from './representation.ts';
import type { EmbeddedSubtitles, SelectedSubtitle } from './text.ts';

/** What an MP4 is to have besides its tracks. */
export interface PlannedExtras {
  readonly hasTags?: boolean;
  /** Has title and artist without tags, too. @default MP4 */
  readonly container?: 'opus';
  /** The list that it is sent as a part of, for the tags. */
  readonly listPlace?: AlbumPosition;
  /** The part that has the tags, for its chapters. Absent: the whole. */
  readonly clip?: ClipTimes;
  readonly subtitle?: SelectedSubtitle;
}

/** Tags and text of a file, with a name that distinguishes them from others; empty: nothing. */
export interface LoadedExtras extends LayoutExtras {
  readonly id: string;
  /** Of a container other than MP4: `NAME=value`. */
  readonly comments?: readonly string[];
}

export interface ExtrasDependencies {
  readonly covers: Covers;
  readonly embeddedSubtitles: EmbeddedSubtitles;
}

/** Fetches the cover and the text, for HEAD too: its ETag and its length depend on them. @throws what its dependencies throw */
export async function loadExtras(
  { resource, sounds }: KeyedRendition,
  planned: PlannedExtras,
  opening: Pick<Opening, 'session' | 'openSource' | 'isForHead'>,
  { covers, embeddedSubtitles }: ExtrasDependencies,
): Promise<LoadedExtras> {
  const { hasTags, subtitle } = planned;
  const [cover, text] = await Promise.all([
    hasTags && covers.find(resource, opening.session),
    subtitle && embeddedSubtitles.find(resource, subtitle, opening),
  ]);
  const { tags, comments, chapters } = makeTags(resource, planned, cover || undefined);
  const parts = { tags: tags && digestOf(tags), chapters: chapters && digestOf(chapters), text: text?.id };
  const named = { ...parts, audio: sounds && digestOf(sounds) };
  const id = Object.entries(named)
    .map(([name, part]) => (part ? ` ${name}=${part}` : ''))
    .join('');
  return { tags, text, sounds, chapters, comments, id };
}

function makeTags(
  resource: Resource,
  { hasTags, container, listPlace, clip }: PlannedExtras,
  cover: Buffer | undefined,
): Pick<LoadedExtras, 'tags' | 'chapters' | 'comments'> {
  if (!hasTags && !container) return {};
  const recording = recordingText(resource, listPlace, clip);
  // The layout of a part takes those of the whole: it alone knows where the part starts exactly.
  if (!container)
    return { tags: mp4Tags(recording, cover), chapters: recording.chapters && recordingText(resource).chapters };
  const { title, artist } = recording;
  const comments = vorbisComments(hasTags ? recording : { title, artist }, cover);
  return { tags: opusTags(comments, hasTags), comments };
}

/** @throws UnsupportedRendition where an error says that subtitles are too large */
export function refuseLargeText(reason: unknown): void {
  if (reason instanceof TextTooLarge)
    throw new UnsupportedRendition('The subtitles are too large to embed.', { cause: reason });
}

/** Checks the text before anything is muxed. @throws UnsupportedRendition when it is too large */
export function requireFittingText({ text }: LayoutExtras, endSeconds = Number.POSITIVE_INFINITY): void {
  try {
    if (text) timedText(text, endSeconds);
  } catch (error) {
    refuseLargeText(error);
    throw error;
  }
}
