import type { Deadline } from '../concurrency/index.ts';
import type { PlaylistEntry, Resource, Track } from '../state/index.ts';
import type { Info } from './yt-dlp/index.ts';

/** Link → Resource. */
export interface Resolver {
  /**
   * Resolves a link, from the table while it is fresh there. At most one resolve per link at a time: concurrent callers
   * share it, and it continues while one of them still waits.
   * @param url an absolute http or https URL, as the caller sent it after one decoding
   * @param options.deadline epoch milliseconds: a link that takes longer fails, an entry of a playlist stays bare
   * @throws NotFound, NotDeliverable, UpstreamError, StateUnavailable, InMaintenance, CapacityExceeded,
   *   ClientLimitExceeded; TimeoutError (DOMException) at the deadline; the signal's reason once it is aborted
   */
  resolve(url: string, options: ResolveOptions): Promise<Resolved>;
  /**
   * Resolves a stored resource again, through the same outgoing identity unless its site blocks that, and stores its new
   * URLs unless the table has valid ones of another identity: these are kept beside them in memory. At most one refresh per
   * resource and identity at a time. The id and everything promised about its streams stay.
   * @param client whose share of yt-dlp is used: that of the first caller. @default the service itself
   * @throws NotFound when the item or all of its formats are gone, else as `resolve`
   */
  refresh(resource: Resource, signal?: AbortSignal, client?: string): Promise<Resource>;
  /** A resource with the URLs that refreshes in this process have found in place of its own; the same resource if none has. */
  latest(resource: Resource): Resource;
  /**
   * Reads a subtitle file as a browser, through yt-dlp and the outgoing identity of its resource.
   * @param client whose share of yt-dlp is used
   * @throws as `resolve`
   */
  readAsBrowser(resource: Resource, track: Track, signal: AbortSignal, client: string): Promise<Buffer>;
  /**
   * Resolves one entry of a playlist: for a host that hands entries to other instances of itself.
   * @throws as `resolve`
   */
  resolveEntry(request: EntryRequest, options: ResolveOptions): Promise<readonly Resource[]>;
  /** Starts yt-dlp ahead of the first link, if it is installed. @throws when it does not start */
  warm(): Promise<void>;
  /**
   * Extracts links with the default release of yt-dlp, and those that fail with the alternative: their sites stay with the
   * release that works. Failures are logged.
   */
  testSites(links: readonly string[]): Promise<void>;
  /** Ends yt-dlp, the process that reads containers, and everything in progress. */
  close(): Promise<void>;
}

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

export type Resolved = ResolvedMedia | ResolvedPlaylist;

export interface ResolvedMedia {
  readonly type: 'Media';
  readonly resource: Resource;
}

export interface ResolvedPlaylist {
  readonly type: 'PlayList';
  readonly title: string | null;
  readonly author: string | null;
  readonly coverUrl: string | null;
  /** Entries that missed the deadline have no `resource`. */
  readonly items: readonly { readonly entry: PlaylistEntry; readonly resource?: Resource }[];
  /** Entries of the list at its source, as far as it says. */
  readonly totalEntries?: number;
  /** The list was cut at the limit of entries. */
  readonly isCut?: boolean;
  /** One-based places of entries that are gone, private or protected, ascending; `items` omits them. */
  readonly unavailable?: readonly number[];
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
