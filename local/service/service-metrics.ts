import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { receivedBytes } from '@reelay/guarded-fetch';
import type { Tools, YtDlpMode } from '@reelay/yt-dlp-worker';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { type OperationId, problemNameOf, routes, toProblem } from '../../core/api/index.ts';
import type { Settings } from '../../core/config/index.ts';
import type { Egress } from '../../core/egress/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Resolved, Resolver } from '../../core/resolve/index.ts';
import { runningFfmpegs } from '../../stream-service/ffmpeg/index.ts';
import { createStreamCounter, type StreamObserver } from '../../stream-service/sessions/index.ts';
import { listen } from '../process.ts';
import { createAcceptRequest } from './request-authority.ts';

/** Metrics of the service on one machine, for Prometheus. Each part is attached where its events happen. */
export interface ServiceMetrics {
  /** Counts every line that is logged, by level and message. */
  countLog(log: Log): Log;
  /** Counts every resolve of a link, by outcome, type of problem and site. */
  countResolves(resolver: Resolver): Resolver;
  /** Counts a request when its response closes. */
  countRequest(request: IncomingMessage, response: ServerResponse): void;
  /** Reports the installed tools. */
  watchTools(tools: Pick<Tools, 'ytDlp' | 'ffmpeg'>): void;
  /** Reports the outgoing addresses that sites have blocked. */
  watchAddresses(egress: Pick<Egress, 'blockedAddresses'>): void;
  /** Reports how links are given to yt-dlp from now on. */
  setYtDlpMode(mode: YtDlpMode): void;
  /** Counts streams and the bytes sent. */
  readonly observer: StreamObserver;
}

/** The metrics in the text format of Prometheus. */
interface Rendering {
  render(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Sites are named by yt-dlp's extractors, of which there are some 1,800. */
const MAX_SITES = 50;
/** Sums of prom-client that are named like counters, which promtool rejects; the same metrics by type remain. */
const MISNAMED_METRICS = ['handles', 'requests', 'resources'].map((kind) => `nodejs_active_${kind}_total`);
/** Messages are constants of the code. */
const MAX_MESSAGES = 200;
const SECONDS_BUCKETS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Outcomes by the status that a failure is answered with; others are `failed`. */
const OUTCOMES = new Map([
  [404, 'not found'],
  [415, 'not deliverable'],
  [429, 'refused'],
  [499, 'cancelled'],
  [503, 'refused'],
]);

/** @param limits of the instance, to compare what runs with */
export function createServiceMetrics(
  version: string,
  { maxStreams, maxFfmpeg }: Pick<Settings, 'maxStreams' | 'maxFfmpeg'>,
): ServiceMetrics & Rendering {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED_METRICS) registry.removeSingleMetric(name);

  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ registers, name, help, labelNames });
  const histogram = (name: string, help: string, ...labelNames: string[]) =>
    new Histogram({ registers, name, help, labelNames, buckets: SECONDS_BUCKETS });
  /** @param collect sets the values before each rendering */
  const gauge = (name: string, help: string, labelNames: string[] = [], collect?: (this: Gauge) => void) =>
    new Gauge({ registers, name, help, labelNames, ...(collect && { collect }) });

  gauge('reelay_info', 'Version of the service.', ['version']).set({ version }, 1);
  const requests = counter(
    'reelay_http_requests_total',
    'Responses, by operation, method and status.',
    ...['operation', 'method', 'status'],
  );
  const headSeconds = histogram(
    'reelay_http_response_head_seconds',
    'Time from a request to the head of its response.',
    'operation',
  );
  const resolves = counter(
    'reelay_resolves_total',
    'Resolved links, by outcome, type of problem and site.',
    ...['outcome', 'problem', 'site'],
  );
  const resolveSeconds = histogram('reelay_resolve_seconds', 'Duration of resolves, cached ones included.');
  const logLines = counter('reelay_log_messages_total', 'Logged messages, by level.', 'level', 'message');
  const streamsStarted = counter('reelay_streams_total', 'Streams started.');
  const ffmpegFailures = counter('reelay_ffmpeg_failures_total', 'Failed FFmpeg processes.');
  const conversions = counter('reelay_conversions_total', 'Conversions opened, by format.', 'format');
  const refused = counter(
    'reelay_admission_refused_total',
    'Streams and FFmpeg processes refused, by the limit that was reached.',
    'limit',
  );
  const processPerLink = gauge(
    'reelay_ytdlp_process_per_link',
    '1 while links are resolved by one process of yt-dlp each, because the warm worker does not fit; else 0.',
  );

  const streams = createStreamCounter();
  const figures: readonly [name: string, help: string, read: () => number][] = [
    ['reelay_streams_running', 'Streams in progress.', streams.running],
    ['reelay_streams_limit', 'Streams at once (MAX_STREAMS).', () => maxStreams],
    ['reelay_ffmpeg_limit', 'FFmpeg processes at once (MAX_FFMPEG).', () => maxFfmpeg],
    ['reelay_ffmpeg_running', 'FFmpeg processes in progress.', runningFfmpegs],
  ];
  for (const [name, help, read] of figures)
    gauge(name, help, [], function collect() {
      this.set(read());
    });
  total('reelay_sent_bytes_total', 'Bytes sent by streams, response heads included.', streams.bytes);
  total('reelay_received_bytes_total', 'Bytes received from sources, TLS and heads included.', receivedBytes);

  /** A counter whose value is kept elsewhere. */
  function total(name: string, help: string, read: () => number): void {
    new Counter({
      registers,
      name,
      help,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  const siteOf = createLabelValues(MAX_SITES);
  const messageOf = createLabelValues(MAX_MESSAGES);

  return {
    countLog: (log) => {
      const counted =
        (level: 'info' | 'warn' | 'error'): Log['info'] =>
        (message, fields) => {
          logLines.inc({ level, message: messageOf(message) });
          log[level](message, fields);
        };
      return { info: counted('info'), warn: counted('warn'), error: counted('error') };
    },
    countResolves: (resolver) => ({
      ...resolver,
      async resolve(url, options) {
        const end = resolveSeconds.startTimer();
        try {
          const resolved = await resolver.resolve(url, options);
          resolves.inc({ outcome: 'resolved', site: siteOf(siteOfResolved(resolved)) });
          return resolved;
        } catch (error) {
          resolves.inc({ ...failureOf(error, options.signal), site: 'unknown' });
          throw error;
        } finally {
          end();
        }
      },
    }),
    countRequest(request, response) {
      // Not yet: a base path, and the host of an absolute target, are removed before it is served.
      const operation = () => operationOf(request.url ?? '');
      const end = headSeconds.startTimer();
      // Called by Node for explicit and implicit heads alike.
      const { writeHead } = response;
      response.writeHead = (...args: unknown[]) => {
        end({ operation: operation() });
        return Reflect.apply(writeHead, response, args);
      };
      response.once('close', () =>
        requests.inc({
          operation: operation(),
          method: methodOf(request.method),
          status: String(response.statusCode),
        }),
      );
    },
    watchTools(tools) {
      gauge('reelay_tool_info', 'Installed tools.', ['tool', 'version', 'source'], function collect() {
        this.reset();
        for (const [tool, installed] of Object.entries({ 'yt-dlp': tools.ytDlp(), FFmpeg: tools.ffmpeg() }))
          if (installed) this.set({ tool, version: installed.version, source: installed.source }, 1);
      });
    },
    watchAddresses(egress) {
      const help = 'Seconds for which an outgoing address is left out for a site that has blocked it.';
      gauge('reelay_outgoing_address_rest_seconds', help, ['site', 'address'], function collect() {
        this.reset();
        // With each rendering: sites that block the links of one client must not displace the others for good.
        const blockedSiteOf = createLabelValues(MAX_SITES);
        for (const { site, address, restSeconds } of egress.blockedAddresses().toReversed())
          this.set({ site: blockedSiteOf(site), address }, restSeconds);
      });
    },
    setYtDlpMode: (mode) => processPerLink.set(mode === 'process-per-link' ? 1 : 0),
    observer: {
      onStreamStart(bytesSent) {
        streamsStarted.inc();
        return streams.onStreamStart(bytesSent);
      },
      onFfmpegFailure: () => ffmpegFailures.inc(),
      onConversion: (format) => conversions.inc({ format }),
      onRefused: (limit) => refused.inc({ limit }),
    },
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH']);
const methodOf = (method = ''): string => (METHODS.has(method) ? method : 'other');

const siteOfResolved = (resolved: Resolved): string =>
  resolved.type === 'Media' ? resolved.resource.origin.extractor : 'playlist';

function failureOf(error: unknown, signal: AbortSignal | undefined) {
  const { details } = toProblem(error);
  const problem = problemNameOf(details);
  if (signal?.aborted) return { outcome: 'cancelled', problem: 'disconnected' };
  // The site refuses this server, which is no fault of the link.
  const isOwnFault = problem === 'bot-check';
  return { outcome: isOwnFault ? 'failed' : (OUTCOMES.get(details.status) ?? 'failed'), problem };
}

/** The value of a label beyond its maximum of values. */
const OTHER = 'other';

/** Bounds the values of a label, which come from outside: the first `max` are kept, further ones become `other`. */
export function createLabelValues(max: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (!known.has(value) && known.size >= max) return OTHER;
    known.add(value);
    return value;
  };
}

/** By path up to the first parameter, in lower case. */
const PREFIXES = routes.map(({ operationId, path }) => ({
  operationId,
  prefix: (path.split('{', 1)[0] ?? path).toLowerCase(),
  isExact: !path.includes('{'),
}));

/** The operation of a request path, or `page` for everything else: a label with few values. */
export function operationOf(url: string): OperationId | 'page' {
  const path = (url.split('?', 1)[0] ?? '').toLowerCase();
  const found = PREFIXES.find(({ prefix, isExact }) => (isExact ? path === prefix : path.startsWith(prefix)));
  return found?.operationId ?? 'page';
}

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
