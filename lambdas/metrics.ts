import { Metrics } from '@aws-lambda-powertools/metrics';
import type { YtDlpMode } from '@reelay/yt-dlp-worker';
import { problemNameOf, toProblem } from '../core/api/index.ts';

type Unit = Parameters<Metrics['addMetric']>[1];

/** Writes metrics in embedded metric format: log lines, so that no API call can delay or fail a request. */
function createWriter(stage: string) {
  const metrics = new Metrics({ namespace: 'Reelay' });
  // Replaces the default dimension `service`: dashboard and alarms select by stage.
  metrics.clearDefaultDimensions();
  metrics.setDefaultDimensions({ Stage: stage });
  return (
    name: string,
    unit: Unit,
    value: number,
    { dimensions, fields }: { dimensions?: Record<string, string>; fields?: Record<string, string> } = {},
  ): void => {
    metrics.addDimensions({ ...dimensions });
    for (const [field, text] of Object.entries(fields ?? {})) metrics.addMetadata(field, text);
    metrics.addMetric(name, unit, value);
    metrics.publishStoredMetrics();
  };
}

/** Metrics of the resolver. */
export type ResolveMetrics = ReturnType<typeof createResolveMetrics>;

/** Writes the metrics of the resolver. */
export function createResolveMetrics(stage: string) {
  const write = createWriter(stage);
  return {
    /**
     * Counts one response.
     * @param outcome by status: `resolved`, `not found`, …
     * @param problem the name of its type, of a failure: a field of the log line, for a metric of each would be billed
     */
    resolved(outcome: string, problem?: string): void {
      write('Resolves', 'Count', 1, {
        dimensions: { Outcome: outcome },
        ...(problem && { fields: { Problem: problem } }),
      });
    },
    /** How links are given to yt-dlp from now on: `ProcessPerLink` is 1 without the warm worker, else 0. */
    ytDlpMode: (mode: YtDlpMode) => write('ProcessPerLink', 'Count', mode === 'process-per-link' ? 1 : 0),
  };
}

/** Metrics of the tools update. */
export type ToolMetrics = ReturnType<typeof createToolMetrics>;

/** Writes the metrics of the tools update. */
export function createToolMetrics(stage: string) {
  const write = createWriter(stage);
  return {
    updateFailed: () => write('ToolUpdateFailed', 'Count', 1),
    /** No release is in use: every resolve answers maintenance. */
    missing: () => write('ToolsMissing', 'Count', 1),
    /** Duration of a maintenance. */
    maintained: (seconds: number) => write('MaintenanceSeconds', 'Seconds', seconds),
    /** Hours since the publication date of the release in use. */
    age: (hours: number) => write('ToolAgeHours', 'None', hours),
  };
}

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
