import type { Request } from '@middy/core';
import { problemNameOf, toProblem } from '../../core/api/index.ts';
import type { ResolveMetrics } from '../runtime/index.ts';
import type { Event, HttpMiddleware, Result } from './create-handler.ts';

/** Outcomes as the dashboard lists them, by the problem. What the site refuses this server for is no fault of the link. */
const OUTCOMES_BY_PROBLEM = new Map<string | undefined, string>([['bot-check', 'failed']]);
/** All others by status. */
const OUTCOMES = new Map([
  [200, 'resolved'],
  [302, 'resolved'],
  [304, 'resolved'],
  [400, 'bad link'],
  [404, 'not found'],
  [415, 'not deliverable'],
  [502, 'failed'],
  [503, 'unavailable'],
]);

type Recorder = Pick<ResolveMetrics, 'resolved'>;

const outcomeOf = (statusCode: number, problem?: string): string =>
  OUTCOMES_BY_PROBLEM.get(problem) ?? OUTCOMES.get(statusCode) ?? 'other';

/** Records the outcome and the duration of every GET. A handler that fails without a response is counted by Lambda. */
export function resolveMetrics(metrics: Recorder): HttpMiddleware {
  const startTimes = new WeakMap<object, number>();
  const record = (request: Request<Event, Result>) => {
    const { event, response, error } = request;
    const startedAt = startTimes.get(request);
    if (!response || startedAt === undefined || event.requestContext.http.method !== 'GET') return;
    const problem = error ? problemNameOf(toProblem(error).details) : undefined;
    metrics.resolved(outcomeOf(response.statusCode ?? 0, problem), performance.now() - startedAt, problem);
  };
  return {
    before: (request) => {
      startTimes.set(request, performance.now());
    },
    after: record,
    onError: record,
  };
}

/** Records a resolve that is only a part of its request, as of a tool, which answers failures with 200. @throws what it throws */
export async function measureResolve<Answer>(metrics: Recorder, resolve: () => Promise<Answer>): Promise<Answer> {
  const startedAt = performance.now();
  const record = (statusCode: number, problem?: string) =>
    metrics.resolved(outcomeOf(statusCode, problem), performance.now() - startedAt, problem);
  try {
    const answer = await resolve();
    record(200);
    return answer;
  } catch (error) {
    const { details } = toProblem(error);
    record(details.status, problemNameOf(details));
    throw error;
  }
}
