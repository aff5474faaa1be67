import type { KeyedRendition } from '../../../core/state/index.ts';
import type { PlannedOutput } from '../representation.ts';

/** The cover of an item, as its source has it. */
export interface PicturePlan extends PlannedOutput {
  readonly kind: 'picture';
  readonly found: KeyedRendition;
}

export const planPicture = (found: KeyedRendition): PicturePlan => ({
  kind: 'picture',
  found,
  answersHead: false,
  // Most covers are JPEG.
  head: { mimeType: 'image/jpeg', fileExtension: '.jpg', size: undefined, acceptRanges: undefined },
});
