import { NotDeliverable } from '../../core/errors/index.ts';
import { type ArchivedList, ItemTooLarge, type State } from '../../core/state/index.ts';

/**
 * Stores a list, so that the stream service finds it by the key of the archive.
 * @returns the key
 * @throws NotDeliverable for one too long to store, StorageFull
 */
export async function storeArchive(state: Pick<State, 'putArchivedList'>, list: ArchivedList): Promise<string> {
  await state.putArchivedList(list).catch((cause) => {
    if (cause instanceof ItemTooLarge)
      throw new NotDeliverable('The list is too long for an archive.', { cause, reason: 'too-large' });
    throw cause;
  });
  return list.id;
}
