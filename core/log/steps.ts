import { channel } from 'node:diagnostics_channel';

/** One finished step of a request, such as `extraction`. */
export interface Step {
  readonly name: string;
  /** `performance.now()` at its start. */
  readonly startMs: number;
  readonly durationMs: number;
}

/** Publishes a `Step` for each step while something subscribes, such as a trace. Without subscribers a step costs nothing. */
export const steps = channel('reelay:step');

/** Runs a step. */
export async function traceStep<T>(name: string, work: () => Promise<T>): Promise<T> {
  if (!steps.hasSubscribers) return work();
  const startMs = performance.now();
  try {
    return await work();
  } finally {
    publishStep(name, performance.now() - startMs);
  }
}

/** Publishes a step that has just ended. */
export function publishStep(name: string, durationMs: number): void {
  if (steps.hasSubscribers) steps.publish({ name, startMs: performance.now() - durationMs, durationMs } satisfies Step);
}
