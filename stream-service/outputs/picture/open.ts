import type { KeyedRendition } from '../../../core/state/index.ts';
import { inMemory, type Opening, type PlannedOutput, type Representation } from '../representation.ts';
import type { Covers } from './covers.ts';

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

export interface PictureDependencies {
  readonly covers: Covers;
}

/** @throws NotFound without a cover, UpstreamError */
export async function openPicture(
  { found }: PicturePlan,
  { session }: Pick<Opening, 'session'>,
  { covers }: PictureDependencies,
): Promise<Representation> {
  const { bytes, ...type } = await covers.original(found.resource, session);
  return inMemory(type, bytes);
}
