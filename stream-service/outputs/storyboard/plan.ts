import { UnsupportedRendition } from '../../../core/errors/index.ts';
import { SUBTITLE_TYPES } from '../../../core/media/subtitles/index.ts';
import { type KeyedRendition, mayHaveStoryboard } from '../../../core/state/index.ts';
import { NoSuchFile, STORYBOARD_NAME } from '../layout/index.ts';
import type { PlannedOutput } from '../representation.ts';

/** The pictures of an item for seeking: their list, or one of the sheets that they are on. */
export interface StoryboardPlan extends PlannedOutput {
  readonly kind: 'storyboard';
  readonly found: KeyedRendition;
  /** Number of the sheet. Absent: the list. */
  readonly sheet?: number;
  /** Where the sheets are, relative to the list. */
  readonly prefix?: string;
}

const UNKNOWN = { size: undefined, acceptRanges: undefined, isInline: true } as const;

/** Whether a file beside the playlists of HLS is one of a storyboard, by its name. */
export const isOfStoryboard = (name: string): boolean => /\.(?:vtt|jpg)$/i.test(name);

/**
 * @param name the list, or a sheet, such as `0.jpg`
 * @throws UnsupportedRendition when the item cannot have pictures, NotFound for another name
 */
export function planStoryboard(found: KeyedRendition, name: string, prefix = ''): StoryboardPlan {
  const sheet = /^(\d{1,4})\.jpg$/i.exec(name)?.[1];
  if (sheet === undefined && name.toLowerCase() !== STORYBOARD_NAME) throw new NoSuchFile('No such file');
  if (!mayHaveStoryboard(found.resource))
    throw new UnsupportedRendition(
      'There are pictures of videos that are MP4 files, and of those whose site has some.',
    );
  const base = { kind: 'storyboard', found, answersHead: false } as const;
  // Most sheets are JPEG.
  if (sheet)
    return { ...base, sheet: Number(sheet), head: { ...UNKNOWN, mimeType: 'image/jpeg', fileExtension: '.jpg' } };
  const isPrivate = !['', `${found.key}/`].includes(prefix);
  return { ...base, prefix, head: { ...UNKNOWN, mimeType: SUBTITLE_TYPES.vtt, fileExtension: '.vtt', isPrivate } };
}
