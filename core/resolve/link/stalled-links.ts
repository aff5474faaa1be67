import { createHash } from 'node:crypto';
import { UpstreamError } from '../../errors/index.ts';
import type { Link, StalledLink } from '../../state/index.ts';
import { epochSeconds } from './assemble-resource.ts';

/** How long a client gets the failure of a link that has timed out, without another attempt. */
const STALLED_SECONDS = 180;
/** Less time than this says nothing of the link: an entry of a list may have begun just before the deadline. */
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
