import type { Settings } from '../../core/config/index.ts';
import { noopObserver } from '../../stream-service/sessions/index.ts';
import type { HostParts } from '../process.ts';
import type { ServiceMetrics } from './service-metrics.ts';

/** Counts nothing. */
const noMetrics: ServiceMetrics = {
  countLog: (log) => log,
  countResolves: (resolver) => resolver,
  countRequest: () => undefined,
  watchTools: () => undefined,
  watchAddresses: () => undefined,
  setYtDlpMode: () => undefined,
  observer: noopObserver,
};

/**
 * Starts the metrics server if it has a port.
 * @throws Error with a message for the operator when the port is taken
 */
export async function openMetrics(
  settings: Pick<Settings, 'metricsHost' | 'metricsPort' | 'allowedHosts' | 'maxStreams' | 'maxFfmpeg'>,
  { version, log, shutdown }: HostParts,
): Promise<ServiceMetrics> {
  if (settings.metricsPort === undefined) return noMetrics;
  // Loaded on demand: most instances do without.
  const { createServiceMetrics, startMetricsServer } = await import('./service-metrics.ts');
  const metrics = createServiceMetrics(version, settings);
  const { port } = shutdown.own(await startMetricsServer(metrics, settings, log));
  log.info('Metrics are served', { host: settings.metricsHost, port });
  return metrics;
}
