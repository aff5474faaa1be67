import { problems } from '../../core/api/index.ts';
import { InMaintenance } from '../../core/errors/index.ts';
import type { EntriesAhead, PageOfList, Resolved, Resolver } from '../../core/resolve/index.ts';
import type { Resource, State } from '../../core/state/index.ts';
import {
  clientOfEvent,
  type Event,
  type HandlerOptions,
  type InvocationContext,
  refuseCrossSite,
} from '../http-handler.ts';
import { FIRST_INSTALL } from './get-app-info.ts';

export interface ResolveRequestOptions extends Pick<HandlerOptions, 'isFromEdge' | 'origins'> {
  readonly resolver: Pick<Resolver, 'resolve'>;
  readonly state: Pick<State, 'getTools' | 'getMaintenance' | 'requireSpace'>;
  /** Called around each resolve. @default nothing is measured */
  readonly measure?: (resolve: () => Promise<ResolvedRequest>) => Promise<ResolvedRequest>;
}

export interface ResolvedRequest {
  readonly resolved: Resolved;
  /** The link as this client sent it. */
  readonly sent: string;
  /** What limits count. */
  readonly client: string;
}

interface ResolveRequestBounds extends PageOfList {
  /** How long the response may wait for entries of a list. @default as long as the resolve may take */
  readonly maxEntryWaitSeconds?: number | undefined;
  /** The entries of a list that are resolved before they are needed. @default all */
  readonly ahead?: EntriesAhead | undefined;
}

/**
 * Resolves the `url` parameter of a request.
 * @throws Problem 400 or 403 for the request, InMaintenance, StateUnavailable, StorageFull, and what `Resolver.resolve` throws
 */
type ResolveRequest = (
  event: Event,
  context: InvocationContext,
  bounds?: ResolveRequestBounds,
) => Promise<ResolvedRequest>;

/** What an operation that resolves needs. */
export interface ResolveDependencies {
  readonly resolveRequest: ResolveRequest;
}

/** YouTube serves a guest about 300 videos an hour. */
const MAX_ENTRIES_AHEAD = 50;

/** For what links entries that are resolved when they are fetched. */
export const resolveFew = (selected?: EntriesAhead['selected']): EntriesAhead => ({ max: MAX_ENTRIES_AHEAD, selected });

/** From the arrival of the request: API Gateway ends a request after 30 s, with a body of its own. */
const RESOLVE_TIMEOUT_MS = 25_000;
/** How long an instance counts as available without reading the table again. */
const AVAILABILITY_TTL_MS = 500;

/** The one way in which operations resolve: all share what is known of the maintenance. */
export function createResolveRequest(options: ResolveRequestOptions): ResolveRequest {
  const { resolver, state, isFromEdge, measure = (resolve) => resolve() } = options;
  const requireAvailable = createMaintenanceCheck(state);

  const resolveRequest: ResolveRequest = async (event, { signal }, { offset, maxEntryWaitSeconds, ahead } = {}) => {
    const { rawQueryString, requestContext } = event;
    refuseCrossSite(event, options);
    const { link, sent } = parseLinkParameter(rawQueryString);
    await requireAvailable();
    // Before the source is contacted: what cannot be stored has no keys.
    await state.requireSpace();
    // Not from now: API Gateway's 30 s include a cold start of this function.
    const deadline = requestContext.timeEpoch + RESOLVE_TIMEOUT_MS;
    const entriesDeadline = requestContext.timeEpoch + (maxEntryWaitSeconds ?? Number.POSITIVE_INFINITY) * 1000;
    const client = clientOfEvent(event, isFromEdge !== undefined);
    const resolved = await resolver.resolve(link, {
      offset,
      deadline,
      ...(entriesDeadline < deadline && { entriesDeadline }),
      ahead,
      signal,
      client,
    });
    return { resolved, sent, client };
  };
  return (...request) => measure(() => resolveRequest(...request));
}

/**
 * @returns a check that throws InMaintenance while tools are being installed or updated, StateUnavailable without the
 * table
 */
function createMaintenanceCheck(state: Pick<State, 'getTools' | 'getMaintenance'>): () => Promise<void> {
  let availableUntil = 0;
  return async () => {
    if (performance.now() < availableUntil) return;
    const [lease, tools] = await Promise.all([state.getMaintenance(), state.getTools()]);
    if (lease) throw new InMaintenance(lease.activity);
    if (!tools) throw new InMaintenance(FIRST_INSTALL);
    availableUntil = performance.now() + AVAILABILITY_TTL_MS;
  };
}

/** The item of a link. @throws Problem 415 for a playlist of several entries, 404 for one whose only entry is gone */
export function singleResource(resolved: Resolved): Resource {
  if (resolved.type === 'Media') return resolved.resource;
  const [first, second] = resolved.items;
  if (second) throw problems.notDeliverable('The link is a playlist. Use the link of one of its entries.');
  if (!first?.resource) throw problems.notFound();
  return first.resource;
}

/** Characters. */
const MAX_LINK_LENGTH = 4096;

/**
 * Parses the `url` parameter, decoded once. The first of several counts.
 * @param rawQuery the query string without its `?`, undecoded: ordinary form decoding, `+` is a space
 * @returns the URL trimmed, and the value as it was sent
 * @throws Problem 400 unless it is an absolute http or https URL with a host
 */
export function parseLinkParameter(rawQuery: string): { readonly link: string; readonly sent: string } {
  const sent = new URLSearchParams(rawQuery).get('url') ?? '';
  const link = sent.trim();
  // URL.parse repairs `http:host` and `http:///host`, which are malformed links.
  const isLink = link.length <= MAX_LINK_LENGTH && /^https?:\/\/[^/?#\\]/i.test(link) && URL.parse(link)?.hostname;
  if (!isLink) throw problems.badLink();
  return { link, sent };
}
