import { type Deadline, deadlineSignal } from '@reelay/concurrency';
import type { Resource } from '../../state/index.ts';
import type { Info } from '../yt-dlp/index.ts';

/** When a resolve must be done, and what a caller does not wait for. */
export interface ResolveDeadline extends Deadline {
  /**
   * Epoch milliseconds. Entries of a playlist that are not resolved by then stay bare; a later request continues with them.
   * @default the deadline
   */
  readonly entriesDeadline?: number;
}

/** How long a caller waits, and for which client. */
export type ResolveOptions = Omit<ResolveDeadline, 'signal'> & Partial<ResolveDeadline>;

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

/** Part of the time left that is kept to store and write the answer, and its maximum. */
const RESERVED_PART = 0.1;
const MAX_RESERVED_MS = 1000;

/** How long entries of a list may take. */
export interface EntryBounds {
  readonly full: Deadline;
  /** Only the wait ends early: an entry that another caller has joined, or that is resolved elsewhere, continues. */
  readonly waiting: Deadline;
}

export function boundEntries({ deadline, entriesDeadline = deadline, signal, client }: ResolveDeadline): EntryBounds {
  const timeLeftMs = Math.max(0, deadline - Date.now());
  const until = deadline - Math.min(MAX_RESERVED_MS, timeLeftMs * RESERVED_PART);
  const full = { deadline: until, signal: deadlineSignal({ deadline: until, signal }), client };
  const waitSignal =
    entriesDeadline <= Date.now()
      ? AbortSignal.abort()
      : deadlineSignal({ deadline: entriesDeadline, signal: full.signal });
  return { full, waiting: { ...full, signal: waitSignal } };
}
