import { toProblem } from '../../core/api/index.ts';
import { type AbsenceReason, NotFound } from '../../core/errors/index.ts';
import { describeError, type Log } from '../../core/log/index.ts';
import { type EntryRequest, permanentReason, type ResolveEntry, type Resolver } from '../../core/resolve/index.ts';
import type { State } from '../../core/state/index.ts';

/** Invokes the resolver for one entry of a playlist. Serialized as JSON. */
export interface EntryEvent {
  readonly kind: 'entry';
  readonly request: EntryRequest;
  /** Epoch milliseconds. */
  readonly deadline: number;
  /** The client that asked for the playlist. */
  readonly client?: string;
}

/**
 * Ids of resources in the table, since the resources could exceed the size of a response; or a failure: of an entry that is
 * gone for good, which is left out, or of one that may succeed later, which keeps the metadata of the list.
 */
type EntryAnswer =
  | { readonly resources: readonly string[] }
  | { readonly failure: 'final' | 'passing'; readonly reason?: string | undefined };

interface FanOutOptions {
  /** Invokes the resolver and returns its response. @throws Error without a response */
  readonly invoke: (event: EntryEvent, signal: AbortSignal) => Promise<unknown>;
  readonly state: Pick<State, 'getResource'>;
  /** Resolves an entry in this invocation. */
  readonly resolveHere: ResolveEntry;
}

/** Lambda's error where no execution is free: of the account, or of those that are reserved for the function. */
const THROTTLED = 'TooManyRequestsException';

/** An invocation ends this long before the deadline of its caller, so that its response arrives in time. */
const DEADLINE_MARGIN_MS = 1_000;

/**
 * Resolves each entry of a playlist in its own invocation, so that long playlists take no longer than short ones. One that gets no
 * execution is resolved here: playlists share the executions with their entries, and several at once would wait for each other.
 */
export function createFanOut({ invoke, state, resolveHere }: FanOutOptions): ResolveEntry {
  return async (request, options) => {
    const { deadline, signal, client } = options;
    const event = { kind: 'entry', request, deadline: deadline - DEADLINE_MARGIN_MS, client } as const;
    const answer = await invoke(event, signal).catch((error: unknown) => {
      if (error instanceof Error && error.name === THROTTLED) return undefined;
      throw error;
    });
    if (answer === undefined) return resolveHere(request, options);
    const { resources: ids, failure, reason } = Object(answer) as Record<string, unknown>;
    // Of whatever class it was: the list names its reason alone.
    if (failure === 'final') throw new NotFound(undefined, { reason: reason as AbsenceReason | undefined });
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string'))
      throw new Error('The entry was not resolved');
    const found = await Promise.all(ids.map(state.getResource));
    const resources = found.filter((resource) => resource !== undefined);
    // A failure rather than 404, which would leave the entry out.
    if (resources.length === 0) throw new Error('Resolved entry is missing in the table');
    return resources;
  };
}

/** Handles the event: resolves the entry in this invocation. Failures are part of the response. */
export const createResolveEntry =
  ({ resolver, log }: { resolver: Pick<Resolver, 'resolveEntry'>; log: Log }) =>
  async ({ request, deadline, client }: EntryEvent): Promise<EntryAnswer> => {
    try {
      const resources = await resolver.resolveEntry(request, { deadline, client });
      return { resources: resources.map(({ id }) => id) };
    } catch (error) {
      const { details, cause } = toProblem(error);
      if (details.status >= 500)
        log.warn('Failed to resolve a playlist entry', { error: describeError(cause ?? error) });
      const reason = permanentReason(error);
      return { failure: reason === undefined ? 'passing' : 'final', reason };
    }
  };
