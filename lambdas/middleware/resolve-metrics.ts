import type { ResolveMetrics } from '../runtime/index.ts';
import type { Handler } from './create-handler.ts';

/** What a person reads in a dashboard. */
const OUTCOMES = new Map([
  [200, 'resolved'],
  [400, 'bad link'],
  [404, 'not found'],
  [415, 'not deliverable'],
  [502, 'failed'],
  [503, 'unavailable'],
]);

/** Counts what each answer came to, and how long it took. */
export const measured =
  (handler: Handler, metrics: ResolveMetrics): Handler =>
  async (event, context) => {
    const begun = performance.now();
    const result = await handler(event, context);
    const { method } = event.requestContext.http;
    if (method === 'GET') metrics.resolved(OUTCOMES.get(result.statusCode ?? 0) ?? 'other', performance.now() - begun);
    return result;
  };
