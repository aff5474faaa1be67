import { Problem, type ProblemDetails, toProblem } from '../../core/api/index.ts';
import { NotDeliverable, NotFound } from '../../core/errors/index.ts';
import { describeError, type Log } from '../../core/log/index.ts';
import type { EntryRequest, ResolveEntry, Resolver } from '../../core/resolve/index.ts';
import type { State } from '../../core/state/index.ts';

/** One entry of a playlist, handed to an invocation of its own. JSON all through. */
export interface EntryEvent {
  readonly kind: 'entry';
  readonly request: EntryRequest;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

/** What came of it. The resources themselves are in the table by then: many are more than an answer may carry. */
export type EntryAnswer = { readonly resources: readonly string[] } | { readonly problem: ProblemDetails };

export interface FanOutOptions {
  /** Invokes a function of this kind and gives what it answered. @throws Error when it was not answered */
  readonly invoke: (event: EntryEvent, signal: AbortSignal) => Promise<unknown>;
  readonly state: Pick<State, 'getResource'>;
}

/** Milliseconds before its caller gives up that an invocation does: so that its answer, be it a failure, gets back. */
const HEAD_START = 1_000;

/** Resolves each entry of a playlist by an invocation of its own, so that long lists take no longer than short ones. */
export function createFanOut({ invoke, state }: FanOutOptions): ResolveEntry {
  return async (request, { deadline, signal }) => {
    const answer = asAnswer(await invoke({ kind: 'entry', request, deadline: deadline - HEAD_START }, signal));
    if ('problem' in answer) throw toError(answer.problem);
    const found = await Promise.all(answer.resources.map(state.getResource));
    const resources = found.filter((resource) => resource !== undefined);
    // Nothing of what it named: that is a failure, and no reason to leave the entry out.
    if (resources.length === 0) throw new Error('What an entry came to is not in the table');
    return resources;
  };
}

/** The other end: resolves the entry here. */
export const createResolveEntry =
  ({ extraction, log }: { extraction: Pick<Resolver, 'resolveEntry'>; log: Log }) =>
  async ({ request, deadline }: EntryEvent): Promise<EntryAnswer> => {
    try {
      const resources = await extraction.resolveEntry(request, { deadline });
      return { resources: resources.map(({ id }) => id) };
    } catch (error) {
      const { details, cause } = toProblem(error);
      if (details.status >= 500) log.warn('An entry could not be resolved', { error: describeError(cause ?? error) });
      return { problem: details };
    }
  };

/** The class of error that the problem was made of: an entry that is gone is left out, one that failed stays bare. */
function toError(problem: ProblemDetails): Error {
  if (problem.status === 404) return new NotFound();
  if (problem.status === 415) return new NotDeliverable(problem.detail ?? problem.title);
  return new Problem(problem);
}

function asAnswer(answer: unknown): EntryAnswer {
  const { resources, problem } = Object(answer) as { resources?: unknown; problem?: unknown };
  if (Array.isArray(resources) && resources.every((id) => typeof id === 'string')) return { resources };
  const { status, title } = Object(problem) as { status?: unknown; title?: unknown };
  if (typeof status === 'number' && typeof title === 'string') return { problem: problem as ProblemDetails };
  throw new Error('An entry came back as nothing that can be understood');
}
