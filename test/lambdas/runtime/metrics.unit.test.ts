import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createResolveMetrics, createToolMetrics } from '../../../lambdas/metrics.ts';

const STAGE = 'prod';

let lines: Record<string, unknown>[];
beforeEach(() => {
  lines = [];
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'get-resource');
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => lines.push(JSON.parse(String(chunk))) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** A complete line of the embedded metric format. */
const line = (name: string, unit: string, value: number, dimensions: Record<string, string>) => ({
  _aws: {
    Timestamp: expect.any(Number),
    CloudWatchMetrics: [
      { Namespace: 'Reelay', Dimensions: [Object.keys(dimensions)], Metrics: [{ Name: name, Unit: unit }] },
    ],
  },
  ...dimensions,
  [name]: value,
});

describe('createResolveMetrics and createToolMetrics', () => {
  it('write one line per metric with the stage, and the outcome where there is one', () => {
    const metrics = createResolveMetrics(STAGE);
    metrics.resolved('not found', 'gone');
    metrics.resolved('resolved');
    metrics.ytDlpMode('process-per-link');
    metrics.ytDlpMode('worker');
    expect(lines).toEqual([
      { ...line('Resolves', 'Count', 1, { Stage: STAGE, Outcome: 'not found' }), Problem: 'gone' },
      line('Resolves', 'Count', 1, { Stage: STAGE, Outcome: 'resolved' }),
      line('ProcessPerLink', 'Count', 1, { Stage: STAGE }),
      line('ProcessPerLink', 'Count', 0, { Stage: STAGE }),
    ]);
  });

  it('record an update of the tools', () => {
    const metrics = createToolMetrics(STAGE);
    metrics.updateFailed();
    metrics.missing();
    metrics.maintained(4.5);
    metrics.age(26);
    expect(lines).toEqual([
      line('ToolUpdateFailed', 'Count', 1, { Stage: STAGE }),
      line('ToolsMissing', 'Count', 1, { Stage: STAGE }),
      line('MaintenanceSeconds', 'Seconds', 4.5, { Stage: STAGE }),
      line('ToolAgeHours', 'None', 26, { Stage: STAGE }),
    ]);
  });
});
