import { Metrics } from '@aws-lambda-powertools/metrics';

/** What the resolver counts. */
export interface ResolveMetrics {
  /** One answer. @param outcome what it came to, by status: `resolved`, `not found`, … */
  resolved(outcome: string, milliseconds: number): void;
}

/** What an operator is told in figures. */
export interface ToolMetrics {
  updated(): void;
  updateFailed(): void;
  /** No release is in use, so nothing can be resolved. */
  missing(): void;
  /** The maintenance lasts, seconds since it began. */
  maintained(seconds: number): void;
  /** Hours since the release in use was published, by its own date. */
  age(hours: number): void;
}

const NAMESPACE = 'Reelay';

type Unit = Parameters<Metrics['addMetric']>[1];

/** Metrics as lines of the log (embedded metric format): no call, and nothing that could fail a request. */
function createMetrics(stage: string): Metrics {
  const metrics = new Metrics({ namespace: NAMESPACE });
  // By stage alone: the dashboard does not ask which function counted.
  metrics.clearDefaultDimensions();
  metrics.setDefaultDimensions({ Stage: stage });
  return metrics;
}

function createWriter(stage: string) {
  const metrics = createMetrics(stage);
  return (name: string, unit: Unit, value: number, dimensions: Readonly<Record<string, string>> = {}) => {
    metrics.addDimensions({ ...dimensions });
    metrics.addMetric(name, unit, value);
    metrics.publishStoredMetrics();
  };
}

export function createResolveMetrics(stage: string): ResolveMetrics {
  const write = createWriter(stage);
  return {
    resolved(outcome, milliseconds) {
      write('Resolves', 'Count', 1, { Outcome: outcome });
      write('ResolveMilliseconds', 'Milliseconds', milliseconds);
    },
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
