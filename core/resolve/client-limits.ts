import { createHash } from 'node:crypto';
import { createSemaphore, type Deadline, deadlineSignal, type Permit } from '@reelay/concurrency';
import { CapacityExceeded, ClientLimitExceeded, UpstreamError } from '../errors/index.ts';
import type { Link, StalledLink } from '../state/index.ts';
import { epochSeconds } from './save-item.ts';

interface ResolveLimitsOptions {
  /** Links of one client that are resolved at once. */
  readonly maxRunningPerClient: number;
  /** Links of one client that wait for those. */
  readonly maxWaitingPerClient: number;
  /** Links of all clients that wait. */
  readonly maxWaiting: number;
  /** Milliseconds for which an aborted link keeps its slot. @default 1000 */
  readonly abortedSlotMs?: number;
}

/**
 * Releases a slot: later when the link was aborted, since most of the cost of a resolve is its start. A client that resets
 * its requests then waits for its own ones.
 */
export type ReleaseSlot = (isAborted?: boolean) => void;

/** Limits on links resolved at once, per client, so that one client's links delay only its own. */
export interface ResolveLimits {
  /** A slot if one is free now. */
  tryAcquire(client: string): ReleaseSlot | undefined;
  /**
   * Waits for a slot.
   * @throws ClientLimitExceeded when too many links of the client wait, CapacityExceeded when too many wait in all;
   *   TimeoutError (DOMException) at the deadline; the signal's reason once it is aborted
   */
  acquire(client: string, deadline: Deadline): Promise<ReleaseSlot>;
}

/** Retry-After for a client at its limit: one of its links has to finish first, which takes seconds. */
const RETRY_SECONDS = 5;
const ABORTED_SLOT_MS = 1_000;

export function createResolveLimits(options: ResolveLimitsOptions): ResolveLimits {
  const { maxRunningPerClient, maxWaitingPerClient, maxWaiting, abortedSlotMs = ABORTED_SLOT_MS } = options;
  const slots = createSemaphore({ maxPerClient: maxRunningPerClient });
  const releaseOf =
    ({ release }: Permit): ReleaseSlot =>
    (isAborted = false) => {
      if (isAborted) setTimeout(release, abortedSlotMs).unref();
      else release();
    };

  return {
    tryAcquire(client) {
      const permit = slots.tryAcquire(client);
      return permit && releaseOf(permit);
    },
    async acquire(client, deadline) {
      if (slots.waiting(client) >= maxWaitingPerClient)
        throw new ClientLimitExceeded('Resolve queue of this client is full', RETRY_SECONDS);
      if (slots.waiting() >= maxWaiting) throw new CapacityExceeded('Resolve queue is full', RETRY_SECONDS);
      return releaseOf(await slots.acquire(client, deadlineSignal(deadline)));
    },
  };
}

/** How long a client gets the failure of a link that has timed out, without another attempt. */
const STALLED_SECONDS = 180;
/** A shorter wait does not count: an entry may have started just before the deadline. */
const MIN_STALL_MS = 10_000;
/** For each link. Beyond them the first is forgotten. */
const MAX_CLIENTS = 100;

/** Names a client of one link: the table has no addresses. */
const nameOf = (client: string, linkId: string): string =>
  createHash('sha256').update(`${linkId} ${client}`).digest('base64url').slice(0, 16);

/** Whether a resolve has failed because its site did not answer in time. @param startedAt epoch milliseconds */
export function isStall(error: unknown, startedAt: number): boolean {
  if (Date.now() - startedAt < MIN_STALL_MS) return false;
  if (error instanceof UpstreamError) return error.reason === 'site-timeout';
  return error instanceof DOMException && error.name === 'TimeoutError';
}

/** The failure of a stalled link, which says when it is tried again for this client. */
export const stallFailure = (cause?: unknown, retryAfterSeconds = STALLED_SECONDS): UpstreamError =>
  new UpstreamError('The link timed out', { reason: 'site-timeout', retryAfterSeconds, cause });

/** @throws UpstreamError while the link counts as stalled for the client */
export function requireNotStalled(stored: StalledLink, client: string): void {
  const name = nameOf(client, stored.id);
  const secondsLeft =
    Math.max(...stored.clients.filter((each) => each.name === name).map(({ until }) => until)) - epochSeconds();
  if (secondsLeft > 0) throw stallFailure(undefined, secondsLeft);
}

/** The record of a link that stalls for a further client. */
export function addStall(
  stored: StalledLink | undefined,
  { id, url }: Pick<Link, 'id' | 'url'>,
  client: string,
): StalledLink {
  const now = epochSeconds();
  const until = now + STALLED_SECONDS;
  const others = stored?.clients.filter((each) => each.until > now) ?? [];
  const clients = [...others, { name: nameOf(client, id), until }].slice(-MAX_CLIENTS);
  return { type: 'Stalled', id, url, clients, freshUntil: until, expiresAt: until };
}
