import pLimit from 'p-limit';
import { abortable, type Deadline, deadlineSignal } from '../../concurrency/index.ts';
import type { Resource } from '../../state/index.ts';
import { isUnresolved, type List, type ListedEntry, type ListItem, type Place } from '../playlists/index.ts';
import { type Info, isFinal } from '../yt-dlp/index.ts';

/** When a resolve must be done, and what a caller does not wait for. */
export interface ResolveDeadline extends Deadline {
  /**
   * Epoch milliseconds. Entries of a playlist that are not resolved by then stay bare; a later request continues with them.
   * @default the deadline
   */
  readonly entriesDeadline?: number;
}

/** One entry of a playlist to resolve. Serializable as JSON: it may be resolved in another process. */
export interface EntryRequest {
  readonly url: string;
  /** The list's metadata of it. */
  readonly entry: Info;
  /** Links of the lists that contain it, outermost first. */
  readonly ancestors: readonly string[];
}

/** Resolves one entry of a playlist: to one resource, or to several when the entry is a list itself. */
export type ResolveEntry = (request: EntryRequest, deadline: Deadline) => Promise<readonly Resource[]>;

/** As `ResolveEntry`, for an entry in the form of its list. */
export type ResolveListed = (listed: ListedEntry, deadline: Deadline) => Promise<readonly Resource[]>;

/** Part of the time left that is kept to store and write the answer, and its maximum. */
const RESERVED_PART = 0.1;
const MAX_RESERVED_MS = 1000;

/**
 * Resolves entries of a list, `maxAtOnce` at a time, as many as the deadline allows. An entry that is gone for good leaves a
 * gap; one that fails for another reason keeps the metadata of the list.
 */
export async function resolveEntries(
  places: List['places'],
  { resolveListed, maxAtOnce }: { readonly resolveListed: ResolveListed; readonly maxAtOnce: number },
  { deadline, entriesDeadline = deadline, signal, client }: ResolveDeadline,
): Promise<Place[]> {
  const timeLeftMs = Math.max(0, deadline - Date.now());
  const until = deadline - Math.min(MAX_RESERVED_MS, timeLeftMs * RESERVED_PART);
  const full = { deadline: until, signal: deadlineSignal({ deadline: until, signal }), client };
  // Only the wait ends early: an entry that another caller has joined, or that is resolved elsewhere, continues.
  const waitSignal =
    entriesDeadline <= Date.now()
      ? AbortSignal.abort()
      : deadlineSignal({ deadline: entriesDeadline, signal: full.signal });
  const limit = pLimit(maxAtOnce);
  const resolveOne = async (listed: ListedEntry): Promise<Place[]> => {
    // Entries that came with the page of the list are not known without resolving the list again.
    const bounds = listed.isResolved ? full : { ...full, signal: waitSignal };
    if (bounds.signal.aborted) return [{ entry: listed.entry }];
    try {
      const resources = await abortable(resolveListed(listed, bounds), bounds.signal);
      return resources.map((resource) => toItem(listed, resource, resources.length === 1));
    } catch (error) {
      return isFinal(error) ? [undefined] : [{ entry: listed.entry }];
    }
  };
  const found = await Promise.all(
    places.map((place) => (isUnresolved(place) ? limit(() => resolveOne(place)) : [place])),
  );
  signal.throwIfAborted();
  return found.flat();
}

function toItem({ entry: { url, isNamedByList } }: ListedEntry, resource: Resource, isOnly: boolean): ListItem {
  const { title, author, coverUrl, origin } = resource;
  const entry = { url: isOnly ? url : origin.url, title, author, coverUrl, resourceId: resource.id };
  return { entry: { ...entry, ...(isNamedByList && { isNamedByList }) }, resource };
}
