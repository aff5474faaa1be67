import { setTracer } from '../../core/log/index.ts';
import type { HostParts } from '../process/index.ts';
import type { Tracing, TracingSettings } from './create-tracing.ts';

/** Records nothing. */
const noTracing: Tracing = { serve: (_request, _response, handle) => handle() };

/** Starts to export traces if an endpoint is set. */
export async function openTracing(settings: TracingSettings, { version, log, shutdown }: HostParts): Promise<Tracing> {
  if (settings.otlpEndpoint === undefined) return noTracing;
  // Loaded on demand: most instances do without.
  const { createTracing } = await import('./create-tracing.ts');
  const tracing = createTracing({ ...settings, otlpEndpoint: settings.otlpEndpoint }, { version, log });
  setTracer(tracing.tracer);
  shutdown.defer(async () => {
    setTracer(undefined);
    await tracing.close();
  });
  log.info('Traces are exported', { endpoint: settings.otlpEndpoint });
  return tracing;
}
