import { entityTag } from '../../../core/http/index.ts';
import { openTrack } from '../../source/index.ts';
import type { Opening, Representation } from '../representation.ts';
import type { CopyPlan } from './plan.ts';

/** @throws what `OpenSource` throws */
export async function openCopy(
  { found, head: { mimeType, fileExtension } }: CopyPlan,
  { session, range, openSource }: Opening,
): Promise<Representation> {
  const source = await openTrack(openSource, found, found.tracks[0], session, { range });
  if (source.needsRemux) throw new Error('A direct track was opened as segments');
  const { size, validator } = source;
  return {
    ...{ mimeType, fileExtension, size },
    // Another size or another validator of the source is another entity.
    etag: size === undefined ? undefined : entityTag([found.key, size, validator]),
    acceptRanges: size === undefined ? 'none' : 'bytes',
    read: (first, last) => source.read(first, last),
  };
}
