import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type ApiFailure,
  type MediaInformation,
  type ResolvedLink,
  resolveWhenAvailable,
  type UnavailableEntry,
  type Waiting,
} from '../../api/index.ts';
import { usePage } from '../context.ts';
import { useOnline } from '../hooks.ts';
import { toFailure } from '../session.ts';

/** An entry of a playlist. One that missed the playlist's deadline is resolved by itself. */
export interface Entry {
  readonly item: MediaInformation;
  readonly isLooking?: boolean;
  /** Not resolved yet: it will be, with the list or by itself. */
  readonly isQueued?: boolean;
  /** It turned out to be gone, private or protected; `failure` says why where it was resolved by itself. */
  readonly isGone?: boolean;
  /** Why its resolve waits. */
  readonly waiting?: Waiting;
  readonly failure?: ApiFailure;
}

export interface Entries {
  readonly all: readonly Entry[];
  /** What is known of unavailable entries, by their numbers. */
  readonly unavailable: ReadonlyMap<number, UnavailableEntry>;
  /**
   * The entry with its renditions, resolved if necessary with its progress shown. Aborted when the playlist unmounts. Undefined
   * when it fails, which is shown.
   */
  lookUp(index: number): Promise<MediaInformation | undefined>;
  /** Shows a failure of the entry. */
  fail(index: number, failure: ApiFailure): void;
  /** Aborts `lookUp`. */
  stop(index: number): void;
  /** Of a long list, which is not resolved ahead: resolves the entry unless it is out of sight again by then. */
  see(index: number, isSeen: boolean): void;
}

/** Whether the entry has been resolved with renditions. */
export const hasVersions = ({ video, audio }: MediaInformation): boolean => Boolean(video ?? audio);

interface Looking {
  readonly asking: AbortController;
  readonly found: Promise<MediaInformation | undefined>;
}

/** Temporary problems: the service keeps such an entry in its list. `undefined`: a problem without a type, of another version. */
const PASSING: readonly (string | undefined)[] = ['not-started', 'bot-check', undefined];

/** Whether the service would leave an entry that fails like this out of its list. */
const isFinal = ({ kind, problem }: ApiFailure): boolean =>
  (kind === 'not-found' || kind === 'refused') && !PASSING.includes(problem);

/** Whether it is still to be resolved. */
export const isPending = ({ item, isGone, failure }: Entry): boolean => !hasVersions(item) && !isGone && !failure;

/** Concurrent resolves of entries by themselves. */
const MAX_RESOLVING = 3;
/** How long further resolves of a list wait for its entries, at first and at most; later ones wait for the service's deadline. */
const SECOND_ENTRY_WAIT_SECONDS = 2;
const MAX_ENTRY_WAIT_SECONDS = 15;
/** A longer list is resolved as it is scrolled: sites limit the items that they show a visitor in an hour. */
const MAX_AHEAD = 50;
/** Further resolves of one list. */
const MAX_ROUNDS = 20;

/** @param link of the list; undefined for links entered together. Resolving it again makes the service continue with missing entries */
export function useEntries(resource: ResolvedLink, link: string | undefined): Entries {
  const { api } = usePage();
  const isLong = link !== undefined && resource.mediaItems.filter((item) => !hasVersions(item)).length > MAX_AHEAD;
  const [all, setAll] = useRetainedState<readonly Entry[]>(resource, 'entries', () =>
    resource.mediaItems.map((item) => ({ item, isQueued: !isLong && !hasVersions(item) })),
  );
  const [unavailable, setUnavailable] = useRetainedState<Entries['unavailable']>(
    resource,
    'unavailable',
    () => new Map(),
  );
  const latest = useRef(all);
  latest.current = all;
  const looking = useRef(new Map<number, Looking>()).current;
  const left = useRef(new AbortController()).current;
  const change = (index: number, entry: Entry) => {
    latest.current = latest.current.with(index, entry);
    setAll(latest.current);
  };

  const resolveEntry = async (index: number, item: MediaInformation, signal: AbortSignal) => {
    change(index, { item, isLooking: true });
    try {
      const onWaiting = (waiting: Waiting) => change(index, { item, isLooking: true, waiting });
      const { mediaItems } = await resolveWhenAvailable(api, item.requestedUrl ?? '', { signal, onWaiting });
      const complete = { ...item, ...mediaItems[0] };
      change(index, { item: complete });
      return complete;
    } catch (error) {
      const failure = toFailure(error);
      // The service would omit this entry from its list. Links entered together are kept, with the reason of the failure.
      const isGone = link !== undefined && isFinal(failure);
      change(index, signal.aborted ? { item } : { item, failure, isGone });
    } finally {
      looking.delete(index);
    }
  };
  const lookUp = async (index: number) => {
    const item = latest.current[index]?.item;
    if (!item || left.signal.aborted) return;
    if (hasVersions(item)) return item;
    const asking = new AbortController();
    const current = looking.get(index) ?? {
      asking,
      found: resolveEntry(index, item, AbortSignal.any([asking.signal, left.signal])),
    };
    looking.set(index, current);
    return current.found;
  };
  /** Resolves the remaining entries one by one: that may succeed, or gives the reason of the failure. */
  const resolveRest = () => resolveAll(latest.current.flatMap((entry, index) => (isPending(entry) ? [index] : [])));
  const resolveAll = async (indexes: readonly number[]) => {
    const left = indexes.values();
    const resolveNext = async () => {
      for (const index of left) await lookUp(index);
    };
    await Promise.all(Array.from({ length: MAX_RESOLVING }, resolveNext));
  };
  const pendingCount = () => latest.current.filter(isPending).length;
  const { offset } = resource.counts ?? {};
  /** Asks for titles and reasons: the list is in the table, where every resolve has left them. */
  const explain = async (url: string) => {
    const details = await api.getDetails(url, { offset, maxEntryWaitSeconds: 0 });
    setUnavailable(new Map(details.unavailable?.map((entry) => [entry.number, entry])));
  };
  const placeCount = latest.current.length + (resource.counts?.unavailable.length ?? 0);
  const continueList = async (url: string, signal: AbortSignal) => {
    for (let round = 0; round < MAX_ROUNDS && pendingCount() > 0; round++) {
      const before = pendingCount();
      // Short at first, so that entries appear soon; then longer, because a slow entry starts over with each request.
      const wait = SECOND_ENTRY_WAIT_SECONDS * 2 ** round;
      const isBounded = wait <= MAX_ENTRY_WAIT_SECONDS;
      const startedAt = performance.now();
      const { mediaItems, counts } = await api.resolve(url, signal, {
        offset,
        ...(isBounded && { maxEntryWaitSeconds: wait }),
      });
      const isEarly = isBounded && performance.now() - startedAt >= wait * 1000;
      // An entry that is a list itself becomes several entries: then a missing link does not mean that an entry is gone.
      const areSame = mediaItems.length + (counts?.unavailable.length ?? 0) === placeCount;
      for (const [index, { item, isLooking }] of latest.current.entries()) {
        const found = mediaItems.find(({ requestedUrl }) => requestedUrl === item.requestedUrl);
        if (isLooking || hasVersions(item) || !item.requestedUrl) continue;
        if (found && hasVersions(found)) change(index, { item: { ...item, ...found } });
        else if (!found && areSame) change(index, { item, isGone: true });
      }
      if (!isEarly && pendingCount() === before) return;
    }
  };
  useEffect(() => {
    const ignore = () => undefined;
    if (link) {
      if (resource.counts?.unavailable.length) void explain(link).catch(ignore);
      if (isLong) return () => left.abort();
      const rounds = continueList(link, left.signal).catch(ignore);
      void rounds.then(async () => {
        if (latest.current.some(({ isGone }) => isGone)) void explain(link).catch(ignore);
        await resolveRest();
      });
    } else void resolveRest();
    return () => left.abort();
  }, []);
  const lost = all.flatMap(({ failure }, index) => (failure?.kind === 'offline' ? [index] : []));
  useOnline(lost.length > 0 ? () => void resolveAll(lost) : undefined);
  const seen = useRef(new Set<number>()).current;
  const resolveSeen = () => {
    for (const index of seen) {
      if (looking.size >= MAX_RESOLVING) return;
      seen.delete(index);
      void lookUp(index).then(resolveSeen);
    }
  };
  const see = (index: number, isSeen: boolean) => {
    seen.delete(index);
    if (isLong && isSeen) seen.add(index);
    resolveSeen();
  };
  const fail = (index: number, failure: ApiFailure) => {
    const item = latest.current[index]?.item;
    if (item) change(index, { item, failure });
  };
  return { all, unavailable, lookUp, fail, see, stop: (index) => looking.get(index)?.asking.abort() };
}

const retained = new WeakMap<object, Map<string, unknown>>();

/** `useState` whose value lives as long as `owner`, so that returning to a page restores it. */
export function useRetainedState<T>(owner: object, name: string, initial: () => T): [T, (value: T) => void] {
  const shelf = retained.get(owner) ?? new Map<string, unknown>();
  retained.set(owner, shelf);
  const [value, setValue] = useState(() => (shelf.has(name) ? (shelf.get(name) as T) : initial()));
  const keep = (next: T) => {
    shelf.set(name, next);
    setValue(() => next);
  };
  return [value, keep];
}
