import type { Selection } from '../../../core/api/index.ts';
import type { AlbumPosition } from '../../../core/conversions/index.ts';
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
import type { Segments } from '../../segments/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import { planOutput, type RenditionPlan } from '../plan.ts';
import { type ArchiveContents, UNKNOWN_DATE } from './contents.ts';

export interface ChooseEntryDependencies {
  readonly state: Pick<State, 'getResource' | 'touchResource'>;
  /** Resolves entries that are not stored. Absent: they are missing. */
  readonly resolve?: Resolver['resolve'];
  readonly segments: Pick<Segments, 'apply'>;
}

/** For whom entries are read, and until when. */
export type EntryReader = Pick<StreamSession, 'client' | 'signal'>;

/** What was requested of a list, or of an entry of it. */
export interface ArchiveRequest {
  readonly contents: ArchiveContents;
  readonly selection: Selection;
}

/** An entry whose rendition is chosen and not open yet. */
export interface ChosenEntry {
  readonly title: string | null;
  readonly author: string | null;
  /** The upload date where it is known, else a fixed date. */
  readonly modifiedAt: Date;
  readonly plan: RenditionPlan;
}

const RESOLVE_TIMEOUT_MS = 25_000;

/** The resource of an entry by the state table alone. */
export const readStored = async (
  { resourceId }: PlaylistEntry,
  { state }: ChooseEntryDependencies,
): Promise<Resource | undefined> => (resourceId === undefined ? undefined : state.getResource(resourceId));

/**
 * Resolves an entry of a list for the client of a session.
 * @throws NotFound, NotDeliverable when there is nothing to send
 */
export async function resolveEntry(
  entry: PlaylistEntry,
  list: ArchivedList,
  { client, signal }: EntryReader,
  { resolve }: ChooseEntryDependencies,
): Promise<Resource> {
  if (!resolve) throw new NotFound('The entry is not stored');
  if (entry.url === list.url && entry.resourceId === undefined)
    throw new NotDeliverable('The entry is the list itself.');
  const resolved = await resolve(entry.url, { deadline: Date.now() + RESOLVE_TIMEOUT_MS, signal, client });
  if (resolved.type === 'Media') return resolved.resource;
  // An entry without a link of its own comes with the page of its list.
  const item = resolved.items.find(({ resource }) => resource && resource.id === entry.resourceId);
  if (!item?.resource) throw new NotDeliverable('The entry is a list itself.');
  return item.resource;
}

/**
 * Chooses what is sent of a resource.
 * @param number of its entry in the list
 * @throws NotFound, NotDeliverable when there is nothing to send
 */
export async function chooseRendition(
  resource: Resource,
  number: number,
  { contents: { list, entries }, selection }: ArchiveRequest,
  { state, segments }: ChooseEntryDependencies,
): Promise<ChosenEntry> {
  if (resource.isLive) throw new NotDeliverable('The entry is live and has no end.');
  const { chapter } = entries.get(number) ?? {};
  const selected = selectQuality(resource, { ...selection, chapter });
  const found = selected && (await findByKey(keyOf(resource.id, selected.rendition.id), async () => resource));
  if (!found) throw new NotFound('No rendition of this quality');
  // Not awaited: the archive does not depend on it.
  void state.touchResource(resource).catch(() => undefined);
  const { title, author, details } = resource;
  const { format, bitrateKbps } = selected;
  const { resource: marked, ...applied } = await segments.apply(resource, { ...selection, chapter });
  const listPlace = placeInList(list, number);
  const query = { ...selection, ...applied, route: 'Media', format, bitrateKbps, listPlace, chapter } as const;
  const modifiedAt = details?.uploadDate ? new Date(details.uploadDate) : UNKNOWN_DATE;
  const plan = planOutput({ ...found, resource: marked }, query);
  return { title: plan.partTitle ?? title, author, modifiedAt, plan };
}

/** Undefined for an item alone. */
function placeInList(list: ArchivedList, trackNumber: number): AlbumPosition | undefined {
  const isAlone = list.entries.length + (list.unavailable?.length ?? 0) === 1;
  return list.title === null || isAlone ? undefined : { album: list.title, trackNumber };
}
