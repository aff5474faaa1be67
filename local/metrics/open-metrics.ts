import type { Settings } from '../../core/config/index.ts';
import type { HostParts } from '../process/index.ts';
import { noMetrics, type ServiceMetrics } from './metrics.ts';

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
  const [{ createServiceMetrics }, { startMetricsServer }] = await Promise.all([
    import('./service-metrics.ts'),
    import('./metrics-server.ts'),
  ]);
  const metrics = createServiceMetrics(version, settings);
  const { port } = shutdown.own(await startMetricsServer(metrics, settings, log));
  log.info('Metrics are served', { host: settings.metricsHost, port });
  return metrics;
}
