import type { Client, MediaInformation, ResolveOptions, ResourceInformation } from './client.ts';

export interface ResolveListOptions extends Omit<ResolveOptions, 'maxEntryWaitSeconds'> {
  /** Called with what is there after each response. */
  readonly onUpdate?: ((list: ResolvedList) => void) | undefined;
}

/** A link of which every entry is resolved that can be. */
export interface ResolvedList extends ResourceInformation {
  /** Entries without renditions; zero: the list is complete. */
  readonly pendingEntries: number;
}

/** Short at first, so that entries appear soon; later requests wait for the deadline of the instance. */
const ENTRY_WAITS_SECONDS = [3, 6, 12];
/** A list of the greatest length takes fewer, at a few entries a second. */
const MAX_REQUESTS = 40;

/**
 * Resolves a link until every entry has renditions. An instance answers what it has resolved by its deadline, and continues with
 * the rest when it is asked again. An entry that is still without renditions after a whole deadline stays so: resolved by its own
 * `requestedUrl`, it says why.
 */
export async function resolveList(
  client: Pick<Client, 'resolve'>,
  link: string,
  { onUpdate, ...options }: ResolveListOptions = {},
): Promise<ResolvedList> {
  let pendingBefore = Number.POSITIVE_INFINITY;
  for (let number = 0; ; number++) {
    const maxEntryWaitSeconds = ENTRY_WAITS_SECONDS[number];
    const resource = await client.resolve(link, { ...options, maxEntryWaitSeconds });
    const pendingEntries = (resource.mediaItems ?? []).filter((item) => !hasRenditions(item)).length;
    const list = { ...resource, pendingEntries };
    onUpdate?.(list);
    const isStuck = maxEntryWaitSeconds === undefined && pendingEntries >= pendingBefore;
    if (pendingEntries === 0 || isStuck || number + 1 >= MAX_REQUESTS) return list;
    pendingBefore = pendingEntries;
  }
}

/** Whether an entry of a list is resolved. */
const hasRenditions = ({ video, audio }: MediaInformation): boolean => Boolean(video ?? audio);
