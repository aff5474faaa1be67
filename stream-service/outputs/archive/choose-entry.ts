import type { ArchiveParameters } from '../../../core/api/index.ts';
import type { ListPlace } from '../../../core/conversions/index.ts';
import { NotDeliverable, NotFound } from '../../../core/errors/index.ts';
import { type Resolver, selectQuality } from '../../../core/resolve/index.ts';
import {
  type ArchivedList,
  findByKey,
  keyOf,
  type PlaylistEntry,
  type Resource,
  type State,
} from '../../../core/state/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import type { Representations } from '../index.ts';
import type { RepresentationOpener } from '../representation.ts';

export interface ChooseEntryDependencies {
  readonly state: Pick<State, 'getResource' | 'touchResource'>;
  readonly representations: Pick<Representations, 'media'>;
  /** Resolves entries that are not stored. Absent: they are missing. */
  readonly resolve?: Resolver['resolve'];
}

/** An entry of a list. */
export interface PlacedEntry {
  readonly list: ArchivedList;
  readonly entry: PlaylistEntry;
  /** One-based place in the list. */
  readonly number: number;
}

/** An entry whose rendition is chosen and not open yet. */
export interface ChosenEntry {
  readonly title: string | null;
  readonly author: string | null;
  /** The upload date where it is known, else a fixed date: the bytes of an archive do not depend on the clock. */
  readonly modifiedAt: Date;
  readonly opener: RepresentationOpener;
}

/** Chooses what an archive has of an entry. */
export interface ChooseEntry {
  /**
   * By the state table alone; undefined when the entry is not stored.
   * @throws NotFound, NotDeliverable when there is nothing to send
   */
  stored(placed: PlacedEntry, parameters: ArchiveParameters): Promise<ChosenEntry | undefined>;
  /** As `stored`, and resolves an entry that is not. @throws what `Resolver.resolve` throws */
  resolved(placed: PlacedEntry, parameters: ArchiveParameters, session: StreamSession): Promise<ChosenEntry>;
}

const RESOLVE_TIMEOUT_MS = 25_000;
/** The first date that ZIP can express. */
const UNKNOWN_DATE = new Date(Date.UTC(1980, 0, 1));

export function createChooseEntry({ state, representations, resolve }: ChooseEntryDependencies): ChooseEntry {
  const choose = async (
    resource: Resource,
    placed: PlacedEntry,
    parameters: ArchiveParameters,
  ): Promise<ChosenEntry> => {
    if (resource.isLive) throw new NotDeliverable('The entry is live and has no end.');
    const selected = selectQuality(resource, parameters);
    const found = selected && (await findByKey(keyOf(resource.id, selected.rendition.id), async () => resource));
    if (!found) throw new NotFound('No rendition of this quality');
    // Not awaited: the archive does not depend on it.
    void state.touchResource(resource).catch(() => undefined);
    const { title, author, details } = resource;
    return {
      title,
      author,
      modifiedAt: details?.uploadDate ? new Date(details.uploadDate) : UNKNOWN_DATE,
      opener: representations.media(found, {
        format: selected?.format,
        bitrateKbps: parameters.bitrateKbps,
        hasTags: parameters.hasTags,
        listPlace: placeInList(placed),
      }),
    };
  };

  const readStored = async ({ resourceId }: PlaylistEntry): Promise<Resource | undefined> =>
    resourceId === undefined ? undefined : state.getResource(resourceId);

  const resolveEntry = async ({ list, entry }: PlacedEntry, session: StreamSession): Promise<Resource> => {
    if (!resolve) throw new NotFound('The entry is not stored');
    if (entry.url === list.url && entry.resourceId === undefined)
      throw new NotDeliverable('The entry is the list itself.');
    const { client, signal } = session;
    const resolved = await resolve(entry.url, { deadline: Date.now() + RESOLVE_TIMEOUT_MS, signal, client });
    if (resolved.type === 'Media') return resolved.resource;
    // An entry without a link of its own comes with the page of its list.
    const item = resolved.items.find(({ resource }) => resource && resource.id === entry.resourceId);
    if (!item?.resource) throw new NotDeliverable('The entry is a list itself.');
    return item.resource;
  };

  return {
    async stored(placed, parameters) {
      const resource = await readStored(placed.entry);
      return resource && choose(resource, placed, parameters);
    },
    async resolved(placed, parameters, session) {
      const resource = (await readStored(placed.entry)) ?? (await resolveEntry(placed, session));
      return choose(resource, placed, parameters);
    },
  };
}

/** Undefined for an item alone. */
function placeInList({ list, number }: PlacedEntry): ListPlace | undefined {
  const isAlone = list.entries.length + (list.unavailable?.length ?? 0) === 1;
  return list.title === null || isAlone ? undefined : { album: list.title, trackNumber: number };
}
