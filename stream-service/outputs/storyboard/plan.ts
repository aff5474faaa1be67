import { UnsupportedRendition } from '../../../core/errors/index.ts';
import { SUBTITLE_TYPES } from '../../../core/media/subtitles/index.ts';
import { type KeyedRendition, mayHaveStoryboard, type Storyboard, siteStoryboard } from '../../../core/state/index.ts';
import { NoSuchFile, PICTURES_NAME, PLAYLIST_TYPE, STORYBOARD_NAME } from '../layout/index.ts';
import type { PlannedOutput } from '../representation.ts';

/** The pictures of an item for seeking: their list, or one of the sheets that they are on. */
export interface StoryboardPlan extends PlannedOutput {
  readonly kind: 'storyboard';
  readonly found: KeyedRendition;
  /** Number of the sheet. Absent: the list. */
  readonly sheet?: number;
  /** What the list is written of as a playlist of HLS. Absent: as WebVTT. */
  readonly playlist?: Storyboard;
  /** Where the sheets are, relative to the list. */
  readonly prefix?: string;
}

const UNKNOWN = { size: undefined, acceptRanges: undefined, isInline: true } as const;

/** Whether a file beside the playlists of HLS is one of a storyboard, by its name. */
export const isOfStoryboard = (name: string): boolean =>
  /\.(?:vtt|jpg)$/i.test(name) || name.toLowerCase() === PICTURES_NAME;

/**
 * @param name the list, as WebVTT or a playlist, or a sheet, such as `0.jpg`
 * @throws UnsupportedRendition when the item cannot have pictures, NotFound for another name
 */
export function planStoryboard(found: KeyedRendition, name: string, prefix = ''): StoryboardPlan {
  const sheet = /^(\d{1,4})\.jpg$/i.exec(name)?.[1];
  const playlist = name.toLowerCase() === PICTURES_NAME ? siteStoryboard(found.resource)?.storyboard : undefined;
  if (sheet === undefined && !playlist && name.toLowerCase() !== STORYBOARD_NAME) throw new NoSuchFile('No such file');
  if (!mayHaveStoryboard(found.resource))
    throw new UnsupportedRendition(
      'There are pictures of videos that are MP4 files, and of those whose site has some.',
    );
  const base = { kind: 'storyboard', found, answersHead: false } as const;
  // Most sheets are JPEG.
  if (sheet)
    return { ...base, sheet: Number(sheet), head: { ...UNKNOWN, mimeType: 'image/jpeg', fileExtension: '.jpg' } };
  if (playlist) return { ...base, playlist, head: { ...UNKNOWN, ...PLAYLIST_TYPE } };
  const isPrivate = !['', `${found.key}/`].includes(prefix);
  return { ...base, prefix, head: { ...UNKNOWN, mimeType: SUBTITLE_TYPES.vtt, fileExtension: '.vtt', isPrivate } };
}
