import { useEffect, useRef } from 'preact/hooks';
import {
  ApiFailure,
  type MediaInformation,
  type ResourceInformation,
  resolveWhenAvailable,
  type Waiting,
  type WaitOptions,
} from '../../api/index.ts';
import { usePage } from '../context.ts';
import { FIRST_ENTRY_WAIT_SECONDS, toFailure } from '../session.ts';
import { useRetainedState } from './use-retained-state.ts';

/** An entry of a playlist. One that missed the playlist's deadline is resolved by itself. */
export interface Entry {
  readonly item: MediaInformation;
  readonly isLooking?: boolean;
  /** Why its resolve waits. */
  readonly waiting?: Waiting;
  readonly failure?: ApiFailure;
}

export interface Entries {
  readonly all: readonly Entry[];
  /**
   * The entry with its renditions, resolved if necessary with its progress shown. Aborted when the playlist unmounts. Undefined
   * when it fails, which is shown.
   */
  lookUp(index: number): Promise<MediaInformation | undefined>;
  /** Shows a failure of the entry. */
  fail(index: number, failure: ApiFailure): void;
  /** Aborts `lookUp`. */
  stop(index: number): void;
}

/** Whether the entry has been resolved with renditions. */
export const hasVersions = ({ video, audio }: MediaInformation): boolean => Boolean(video ?? audio);

interface Looking {
  readonly asking: AbortController;
  readonly found: Promise<MediaInformation | undefined>;
}

export interface EntriesOptions {
  /** Resolves every entry when the list is shown, a few at a time. */
  readonly resolvesAll?: boolean;
  /** The list's link, resolved again while entries are missing: the service continues where it stopped. */
  readonly link?: string;
}

/** Concurrent resolves of `resolvesAll`. */
const MAX_RESOLVING = 3;
/** Further resolves ask for an answer after this time; later ones wait for the service's deadline. */
const MAX_ENTRY_WAIT_SECONDS = 15;
/** Further resolves of one list. */
const MAX_ROUNDS = 20;
/** Lists that were resolved again, or are being. */
const continued = new WeakSet<ResourceInformation>();

export function useEntries(resource: ResourceInformation, { resolvesAll, link }: EntriesOptions = {}): Entries {
  const { api } = usePage();
  const [all, setAll] = useRetainedState<readonly Entry[]>(resource, 'entries', () =>
    (resource.mediaItems ?? []).map((item) => ({ item })),
  );
  const latest = useRef(all);
  latest.current = all;
  const looking = useRef(new Map<number, Looking>()).current;
  const stop = (index: number) => looking.get(index)?.asking.abort();
  const isUnmounted = useRef(false);
  useEffect(
    () => () => {
      isUnmounted.current = true;
      [...looking.keys()].forEach(stop);
    },
    [],
  );

  const change = (index: number, entry: Entry) => {
    latest.current = latest.current.with(index, entry);
    setAll(latest.current);
  };

  const find = async (index: number, options: WaitOptions = {}) => {
    const item = latest.current[index]?.item;
    if (!item) throw new ApiFailure('not-found');
    const { mediaItems: found } = await resolveWhenAvailable(api, item.requestedUrl ?? '', options);
    const complete = { ...item, ...found?.[0] };
    change(index, { item: complete });
    return complete;
  };

  const resolveEntry = async (index: number, item: MediaInformation, { signal }: AbortController) => {
    change(index, { item, isLooking: true });
    try {
      return await find(index, { signal, onWaiting: (waiting) => change(index, { item, isLooking: true, waiting }) });
    } catch (error) {
      change(index, signal.aborted ? { item } : { item, failure: toFailure(error) });
    } finally {
      looking.delete(index);
    }
  };
  const lookUp = async (index: number) => {
    const item = latest.current[index]?.item;
    if (!item || isUnmounted.current) return;
    if (hasVersions(item)) return item;
    const current = looking.get(index);
    if (current) return current.found;
    const asking = new AbortController();
    const found = resolveEntry(index, item, asking);
    looking.set(index, { asking, found });
    return found;
  };
  useEffect(() => {
    if (!resolvesAll) return;
    const pending = latest.current.flatMap(({ item }, index) => (hasVersions(item) ? [] : [index]));
    const next = async (): Promise<void> => {
      const index = pending.shift();
      if (index === undefined || isUnmounted.current) return;
      await lookUp(index);
      return next();
    };
    for (let worker = 0; worker < MAX_RESOLVING; worker++) void next();
  }, []);
  const pendingCount = () => latest.current.filter(({ item }) => !hasVersions(item)).length;
  const continueList = async (url: string, signal: AbortSignal) => {
    for (let round = 0; round < MAX_ROUNDS && pendingCount() > 0; round++) {
      const before = pendingCount();
      // Short at first, so that entries appear; longer each time, because an entry that takes longer starts over.
      const wait = FIRST_ENTRY_WAIT_SECONDS * 2 ** (round + 1);
      const isBounded = wait <= MAX_ENTRY_WAIT_SECONDS;
      const startedAt = performance.now();
      const { mediaItems } = await api.resolve(url, signal, isBounded ? { maxEntryWaitSeconds: wait } : {});
      const isEarly = isBounded && performance.now() - startedAt >= wait * 1000;
      for (const [index, { item, isLooking }] of latest.current.entries()) {
        const found = mediaItems.find(({ requestedUrl }) => requestedUrl === item.requestedUrl);
        if (!isLooking && !hasVersions(item) && item.requestedUrl && found && hasVersions(found))
          change(index, { item: { ...item, ...found } });
      }
      // What is left does not resolve with the list, but maybe by itself.
      if (!isEarly && pendingCount() === before) return;
    }
  };
  useEffect(() => {
    if (!link || continued.has(resource)) return;
    continued.add(resource);
    const left = new AbortController();
    // Each entry can be loaded by itself, and says then why that fails.
    continueList(link, left.signal).catch(() => undefined);
    return () => left.abort();
  }, []);
  const fail = (index: number, failure: ApiFailure) => {
    const item = latest.current[index]?.item;
    if (item) change(index, { item, failure });
  };
  return { all, lookUp, fail, stop };
}
