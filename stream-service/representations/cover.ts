import type { KeyedRendition } from '../../core/state/index.ts';
import type { Covers } from '../covers/index.ts';
import type { RepresentationOpener } from '../representation.ts';
import { inMemory } from './in-memory.ts';

/** The cover of an item, as its source has it. */
export function cover({ resource }: KeyedRendition, covers: Pick<Covers, 'original'>): RepresentationOpener {
  const open: RepresentationOpener['open'] = async (session) => {
    const { bytes, ...head } = await covers.original(resource, session);
    return inMemory(head, bytes);
  };
  return {
    // Most covers are JPEG.
    describe: () => ({ mimeType: 'image/jpeg', fileExtension: '.jpg', size: undefined, acceptRanges: undefined }),
    inspect: (session) => open(session, { first: 0 }),
    open,
  };
}
