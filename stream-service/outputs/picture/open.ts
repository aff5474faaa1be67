import { inMemory, type Opening, type Representation } from '../representation.ts';
import type { Covers } from './covers.ts';
import type { PicturePlan } from './plan.ts';

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
