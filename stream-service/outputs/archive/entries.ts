import { isSelected, type Selection, toProblem } from '../../../core/api/index.ts';
import type { AlbumPosition } from '../../../core/conversions/index.ts';
import { InvalidParameter, NotDeliverable, NotFound } from '../../../core/errors/index.ts';
import { type ListFileNames, listFileNames, oneLine } from '../../../core/http/index.ts';
import { numberEntries, type Resolver, selectQuality } from '../../../core/resolve/index.ts';
import {
  type ArchivedList,
  findByKey,
  keyOf,
  type PlaylistEntry,
  type Resource,
  type State,
} from '../../../core/state/index.ts';
import type { StreamSession } from '../../sessions/index.ts';
import type { SkipSegments } from '../../sponsorblock.ts';
import { prepareOutput, type RenditionPlan, type SelectedOutput } from '../plan.ts';

/** The path of an entry within the archive, or the reason why it is missing. */
export type EntryResult = { readonly number: number } & ({ readonly path: string } | { readonly reason: string });

/** The last file of an archive. */
export interface IndexFile {
  readonly path: string;
  readonly size: number;
  readonly modifiedAt: Date;
  readonly text: string;
}

/** What an archive contains: entries of a list, and an index of them. */
export interface ArchiveContents extends Pick<ListFileNames, 'pathOf'> {
  readonly list: ArchivedList;
  /** By their one-based place in the list, in order. */
  readonly entries: ReadonlyMap<number, PlaylistEntry>;
  /** The entries with their links, and the reasons of missing ones. */
  indexFile(results: readonly EntryResult[]): IndexFile;
}

/** The first date that ZIP can express: the bytes of an archive do not depend on the clock. */
export const UNKNOWN_DATE = new Date(Date.UTC(1980, 0, 1));

/**
 * Numbers count entries that are not available, too.
 * @throws InvalidParameter when none of the entries has the number `from` or a higher one
 */
export function listContents(list: ArchivedList, { from = 1 }: Pick<Selection, 'from'>): ArchiveContents {
  const all = [...numberEntries(list.entries, list)];
  const last = all.at(-1)?.[0] ?? 0;
  const entries = new Map(all.filter(([number]) => number >= from && isSelected(number, list.selected)));
  if (entries.size === 0) throw new InvalidParameter(`The last entry of the list is number ${last}.`);
  const { pathOf, folder } = listFileNames(list, last);
  return {
    list,
    entries,
    pathOf,
    indexFile(results) {
      const text = indexText(list, entries, results);
      return { path: `${folder}/index.txt`, size: Buffer.byteLength(text), modifiedAt: UNKNOWN_DATE, text };
    },
  };
}

function indexText(
  { title, url, entries: { length }, unavailable = [], nextOffset }: ArchivedList,
  entries: ArchiveContents['entries'],
  results: readonly EntryResult[],
): string {
  const missing = results.flatMap((result) => ('reason' in result ? result.number : []));
  const counts = [
    `${results.length - missing.length} of ${length + unavailable.length}`,
    entries.size < length && `Selected: ${entries.size}`,
    unavailable.length > 0 && `Not available: ${unavailable.join(', ')}`,
    missing.length > 0 && `Missing: ${missing.join(', ')}`,
    nextOffset && `The list goes on: offset=${nextOffset} has what follows`,
  ];
  const lines = results.flatMap((result) => {
    const { title: entryTitle, url: entryUrl } = entries.get(result.number) ?? { title: null, url: '' };
    const isMissing = 'reason' in result;
    const name = isMissing ? entryTitle : result.path.slice(result.path.indexOf('/') + 1);
    return [
      '',
      `${result.number}. ${oneLine(name ?? 'Untitled')}`,
      `   ${oneLine(entryUrl)}`,
      ...(isMissing ? [`   MISSING: ${oneLine(result.reason)}`] : []),
    ];
  });
  const head = [oneLine(title ?? 'Untitled'), oneLine(url), `${counts.filter(Boolean).join('. ')}.`];
  return `${[...head, ...lines].join('\n')}\n`;
}

/** The reason of a failure, as in the response to a stream of the entry. */
export function reasonOf(error: unknown): string {
  const { title, detail } = toProblem(error).details;
  return detail ? `${title}. ${detail}` : title;
}

export interface ChooseEntryDependencies {
  readonly state: Pick<State, 'getResource' | 'touchResource'>;
  /** Resolves entries that are not stored. Absent: they are missing. */
  readonly resolve?: Resolver['resolve'];
  readonly segments: Pick<SkipSegments, 'apply'>;
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
  readonly plan: RenditionPlan | SelectedOutput;
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
  const offset = entry.url === list.url ? list.offset : undefined;
  const resolved = await resolve(entry.url, { offset, deadline: Date.now() + RESOLVE_TIMEOUT_MS, signal, client });
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
  const plan = prepareOutput({ ...found, resource: marked }, query);
  return { title: plan.partTitle ?? title, author, modifiedAt, plan };
}

/** Undefined for an item alone. */
function placeInList(list: ArchivedList, trackNumber: number): AlbumPosition | undefined {
  const isAlone = list.entries.length + (list.unavailable?.length ?? 0) === 1;
  return list.title === null || isAlone ? undefined : { album: list.title, trackNumber };
}
