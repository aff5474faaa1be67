import { Metrics } from '@aws-lambda-powertools/metrics';
import type { YtDlpMode } from '@reelay/yt-dlp-worker';

/** Metrics of the resolver. */
export interface ResolveMetrics {
  /**
   * Counts one response.
   * @param outcome by status: `resolved`, `not found`, …
   * @param problem the name of its type, of a failure: a field of the log line, for a metric of each would be billed
   */
  resolved(outcome: string, milliseconds: number, problem?: string): void;
  /** How links are given to yt-dlp from now on: `ProcessPerLink` is 1 without the warm worker, else 0. */
  ytDlpMode(mode: YtDlpMode): void;
}

/** Metrics of the tools update. */
export interface ToolMetrics {
  updated(): void;
  updateFailed(): void;
  /** No release is in use: every resolve answers maintenance. */
  missing(): void;
  /** Duration of the current maintenance so far. */
  maintained(seconds: number): void;
  /** Hours since the publication date of the release in use. */
  age(hours: number): void;
}

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
  ) => {
    metrics.addDimensions({ ...dimensions });
    for (const [field, text] of Object.entries(fields ?? {})) metrics.addMetadata(field, text);
    metrics.addMetric(name, unit, value);
    metrics.publishStoredMetrics();
  };
}

export function createResolveMetrics(stage: string): ResolveMetrics {
  const write = createWriter(stage);
  return {
    resolved(outcome, milliseconds, problem) {
      write('Resolves', 'Count', 1, {
        dimensions: { Outcome: outcome },
        ...(problem && { fields: { Problem: problem } }),
      });
      write('ResolveMilliseconds', 'Milliseconds', milliseconds);
    },
    ytDlpMode: (mode) => write('ProcessPerLink', 'Count', mode === 'process-per-link' ? 1 : 0),
  };
}

export function createToolMetrics(stage: string): ToolMetrics {
  const write = createWriter(stage);
  return {
    updated: () => write('ToolUpdated', 'Count', 1),
    updateFailed: () => write('ToolUpdateFailed', 'Count', 1),
    missing: () => write('ToolsMissing', 'Count', 1),
    maintained: (seconds) => write('MaintenanceSeconds', 'Seconds', seconds),
    age: (hours) => write('ToolAgeHours', 'None', hours),
  };
}
