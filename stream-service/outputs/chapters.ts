import { timeChapters } from '@reelay/seekable-media/chapters';
import { type AlbumPosition, tagText } from '../../core/conversions/index.ts';
import { InvalidParameter } from '../../core/errors/index.ts';
import type { Resource } from '../../core/state/index.ts';
import type { ClipTimes } from './representation.ts';

/** A chapter as a file of its own. */
export interface SelectedChapter {
  readonly title: string;
  readonly clip: ClipTimes;
  /** For its tags: the item is its album. */
  readonly listPlace: AlbumPosition;
}

/** @param number from 1, as GetDetails lists them. @throws InvalidParameter when there is none of the number */
export function selectChapter(resource: Resource, number: number): SelectedChapter {
  const chapters = timeChapters(resource.details?.chapters ?? [], resource.durationSeconds);
  const chapter = chapters[number - 1];
  if (!chapter)
    throw new InvalidParameter(
      chapters.length > 0 ? `The last chapter is number ${chapters.length}.` : 'The item has no chapters.',
    );
  const { title, ...clip } = chapter;
  const album = tagText(resource).title ?? undefined;
  return { title, clip, listPlace: { album, trackNumber: number, chapterTitle: title } };
}
