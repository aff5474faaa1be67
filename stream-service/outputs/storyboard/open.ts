import { inMemory, type Opening, type Representation, unread } from '../representation.ts';
import type { StoryboardPlan } from './plan.ts';
import { writeStoryboard } from './storyboard-file.ts';
import type { Storyboards } from './storyboards.ts';

export interface StoryboardDependencies {
  readonly storyboards: Storyboards;
}

/** @throws NotFound without such a sheet, UnsupportedRendition without pictures, UpstreamError */
export async function openStoryboard(
  { found: { resource }, head, sheet, prefix = '' }: StoryboardPlan,
  opening: Opening,
  { storyboards }: StoryboardDependencies,
): Promise<Representation> {
  if (sheet === undefined) {
    const storyboard = await storyboards.find(resource, opening);
    const list = storyboard && Buffer.from(writeStoryboard(storyboard, prefix));
    return list ? { ...head, ...inMemory(head, list) } : { ...head, read: unread };
  }
  const picture = await storyboards.sheet(resource, sheet, opening);
  return picture ? inMemory({ ...head, ...picture }, picture.bytes) : { ...head, read: unread };
}
