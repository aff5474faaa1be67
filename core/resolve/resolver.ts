import type { Deadline } from '../concurrency/index.ts';
import type { PlaylistEntry, Resource } from '../state/index.ts';
import type { Info } from './yt-dlp/index.ts';

/** Link → Resource. */
export interface Resolver {
  /**
   * Resolves a link, from the table when it is fresh there. One resolve per link at a time: callers of the same link
   * share it, and it goes on while one of them still waits.
   * @param url an absolute http or https URL, as the caller sent it after one decoding
   * @param options.deadline epoch milliseconds: what is not known by then fails, or stays bare in a playlist
   * @throws Problem 404, 415, 502
   */
  resolve(url: string, options: { readonly deadline: number; readonly signal?: AbortSignal }): Promise<Resolved>;
  /**
   * Resolves a stored resource again, through the outgoing identity that it was resolved through, and keeps what comes
   * back. One at a time per resource: everyone waiting gets the same answer. The id and every promise stay.
   * @throws Problem 404 when it is gone, 415, 502
   */
  refresh(resource: Resource, signal?: AbortSignal): Promise<Resource>;
  /**
   * Resolves one entry of a playlist: for a host that hands entries to other instances of itself.
   * @throws Problem as `resolve`
   */
  resolveEntry(
    request: EntryRequest,
    options: { readonly deadline: number; readonly signal?: AbortSignal },
  ): Promise<readonly Resource[]>;
  /** Starts yt-dlp ahead of the first link, when it is in place. @throws when it does not start */
  warm(): Promise<void>;
  /** Ends yt-dlp, the process that reads containers, and everything they still do. */
  close(): Promise<void>;
}

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
  /** Entries that missed the deadline stand without `resource`. */
  readonly items: readonly { readonly entry: PlaylistEntry; readonly resource?: Resource }[];
}

/** One entry to resolve, wherever that happens: JSON all through. */
export interface EntryRequest {
  readonly url: string;
  /** What the list says of it. */
  readonly entry: Info;
  /** The lists it stands in, outermost first. */
  readonly within: readonly string[];
}

/**
 * Resolves one entry of a playlist: to one resource, or to several when it is a list itself.
 * @throws Problem
 */
export type ResolveEntry = (request: EntryRequest, bounds: Deadline) => Promise<readonly Resource[]>;
