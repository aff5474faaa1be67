import { problemNameOf, toProblem } from '../../core/api/index.ts';
import type { ResolveMetrics } from '../runtime/index.ts';

/** Outcomes as the dashboard lists them, by the problem. What the site refuses this server for is no fault of the link. */
const OUTCOMES_BY_PROBLEM = new Map([['bot-check', 'failed']]);
/** All others by status. */
const OUTCOMES = new Map([
  [400, 'bad link'],
  [404, 'not found'],
  [415, 'not deliverable'],
  [502, 'failed'],
  [503, 'unavailable'],
]);

/** Records the outcome of a resolve. @throws what it throws */
export async function measureResolve<Resolved>(
  metrics: Pick<ResolveMetrics, 'resolved'>,
  resolve: () => Promise<Resolved>,
): Promise<Resolved> {
  try {
    const resolved = await resolve();
    metrics.resolved('resolved');
    return resolved;
  } catch (error) {
    const { details } = toProblem(error);
    const problem = problemNameOf(details);
    metrics.resolved(OUTCOMES_BY_PROBLEM.get(problem) ?? OUTCOMES.get(details.status) ?? 'other', problem);
    throw error;
  }
}
