import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Tools, YtDlpMode } from '@reelay/yt-dlp-worker';
import { type OperationId, routes } from '../../core/api/index.ts';
import type { Egress } from '../../core/egress/index.ts';
import type { Log } from '../../core/log/index.ts';
import type { Resolver } from '../../core/resolve/index.ts';
import { noopObserver, type StreamObserver } from '../../stream-service/sessions/index.ts';

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

/** Counts nothing. */
export const noMetrics: ServiceMetrics = {
  countLog: (log) => log,
  countResolves: (resolver) => resolver,
  countRequest: () => undefined,
  watchTools: () => undefined,
  watchAddresses: () => undefined,
  setYtDlpMode: () => undefined,
  observer: noopObserver,
};

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
