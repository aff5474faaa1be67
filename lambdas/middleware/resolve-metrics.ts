import type { Request } from '@middy/core';
import type { ResolveMetrics } from '../runtime/index.ts';
import type { Event, HttpMiddleware, Result } from './event.ts';

/** Outcomes as the dashboard lists them, by status. */
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

/** Records the outcome and the duration of every GET. A handler that fails without a response is counted by Lambda. */
export function resolveMetrics(metrics: Pick<ResolveMetrics, 'resolved'>): HttpMiddleware {
  const startTimes = new WeakMap<object, number>();
  const record = (request: Request<Event, Result>) => {
    const { event, response } = request;
    const startedAt = startTimes.get(request);
    if (!response || startedAt === undefined || event.requestContext.http.method !== 'GET') return;
    metrics.resolved(OUTCOMES.get(response.statusCode ?? 0) ?? 'other', performance.now() - startedAt);
  };
  return {
    before: (request) => {
      startTimes.set(request, performance.now());
    },
    after: record,
    onError: record,
  };
}
