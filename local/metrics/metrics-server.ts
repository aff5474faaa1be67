import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Settings } from '../../core/config/index.ts';
import type { Log } from '../../core/log/index.ts';
import { createAcceptRequest } from '../gateway/index.ts';
import { listen } from '../process/index.ts';
import type { Rendering } from './service-metrics.ts';

type MetricsServerSettings = Pick<Settings, 'metricsHost' | 'metricsPort' | 'allowedHosts'>;

interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics` on a port of its own, so that it is not reachable by clients of the service. Host names are checked as the
 * service does; where it has a list of them, the address that this listens on is answered too.
 * @throws Error with a message for the operator when the port is taken
 */
export async function startMetricsServer(
  metrics: Rendering,
  { metricsHost: host, metricsPort: port = 0, allowedHosts }: MetricsServerSettings,
  log: Log,
): Promise<MetricsServer> {
  const isNamed = allowedHosts.length > 0;
  const acceptRequest = createAcceptRequest({ host, allowedHosts: isNamed ? [...allowedHosts, host] : [] });
  const server = createServer((request, response) => {
    if (!acceptRequest(request, response)) return;
    request.resume();
    const path = request.url?.split('?', 1)[0];
    if (path !== '/metrics') return void response.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
    metrics.render().then(
      ({ contentType, text }) => response.writeHead(200, { 'content-type': contentType }).end(text),
      (error) => {
        log.error('Rendering metrics failed', { error });
        response.writeHead(500).end();
      },
    );
  });
  await listen(server, { host, port, variable: 'METRICS_PORT' });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
