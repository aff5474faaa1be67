import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { setTracer } from '../core/log/index.ts';

/** A GetResource request of the service: its steps, in milliseconds since its arrival. */
export interface TracedRequest {
  readonly totalMs: number;
  readonly steps: readonly { readonly name: string; readonly startMs: number; readonly durationMs: number }[];
}

type Step = TracedRequest['steps'][number];

/**
 * Appends a line for each GetResource request of this process to a file. For one request at a time. A step is a span, or a
 * duration that a span has as an attribute.
 */
export function logSteps(file: string): void {
  let startedAt = 0;
  let current: Step[] = [];
  const add = (name: string, durationMs: number) =>
    current.push({ name, startMs: performance.now() - durationMs, durationMs });
  setTracer({
    startSpan(name) {
      const spanStartedAt = performance.now();
      return {
        set: (attributes) => {
          for (const [key, value] of Object.entries(attributes))
            if (key.endsWith('_ms') && typeof value === 'number') add(key, value);
        },
        fail: () => undefined,
        end: () => add(name, performance.now() - spanStartedAt),
      };
    },
    activate: (_, work) => work(),
    capture: () => (work) => work(),
  });
  subscribe('http.server.request.start', (message) => {
    if (!isResolve(message as ServerEvent)) return;
    startedAt = performance.now();
    current = [];
  });
  subscribe('http.server.response.finish', (message) => {
    if (!isResolve(message as ServerEvent)) return;
    const totalMs = performance.now() - startedAt;
    const sinceStart = current.map((step) => ({ ...step, startMs: step.startMs - startedAt }));
    appendFileSync(file, `${JSON.stringify({ totalMs, steps: sinceStart } satisfies TracedRequest)}\n`);
  });
}

/** What `logSteps` has written so far. */
export const readSteps = (file: string): TracedRequest[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TracedRequest);

interface ServerEvent {
  readonly request: IncomingMessage;
}

const isResolve = ({ request }: ServerEvent): boolean => request.url?.startsWith('/api/Fetch/GetResource') === true;
