import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultTextMapGetter, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { setGlobalErrorHandler, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { getOperation } from '../../core/api/index.ts';
import type { Settings } from '../../core/config/index.ts';
import { messageOf } from '../../core/errors/index.ts';
import type { Log, Tracer } from '../../core/log/index.ts';
import { operationOf } from '../metrics/index.ts';
import { createSpanTracer } from './span-tracer.ts';

export type TracingSettings = Pick<
  Settings,
  'otlpEndpoint' | 'otlpHeaders' | 'otelServiceName' | 'otelTracesSampler' | 'otelTracesSamplerArg'
>;

export interface TracingOptions {
  /** With a `v`. */
  readonly version: string;
  readonly log: Log;
  /** @default 2000 */
  readonly flushTimeoutMs?: number;
}

/** Traces that are exported until `close`. */
export interface ExportedTracing extends Tracing {
  readonly tracer: Tracer;
  /** Exports what has ended so far, for at most two seconds. */
  close(): Promise<void>;
}

/** Spans that wait for export. Further ones are dropped: an exporter that is down takes no more memory. */
const MAX_QUEUED_SPANS = 2_048;
const EXPORT_TIMEOUT_MS = 5_000;
const FLUSH_TIMEOUT_MS = 2_000;
/** A receiver that is down is reported once in this time. */
const REPORT_INTERVAL_MS = 60_000;

/**
 * Exports spans by OTLP over HTTP, in the background. The endpoint is the operator's: it is reached directly, not through the
 * egress guard, which is for what clients name. The trace context of a request is never sent to sources.
 */
export function createTracing(
  settings: TracingSettings & { readonly otlpEndpoint: string },
  { version, log, flushTimeoutMs = FLUSH_TIMEOUT_MS }: TracingOptions,
): ExportedTracing {
  reportFailures(log);
  const exporter = new OTLPTraceExporter({
    url: `${settings.otlpEndpoint.replace(/\/$/, '')}/v1/traces`,
    headers: Object.fromEntries(settings.otlpHeaders),
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: defaultResource()
      // OTEL_RESOURCE_ATTRIBUTES
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(resourceFromAttributes({ 'service.name': settings.otelServiceName, 'service.version': version })),
    sampler: createSampler(settings.otelTracesSampler, settings.otelTracesSamplerArg),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: MAX_QUEUED_SPANS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const spans = provider.getTracer('reelay', version);
  const { tracer, runIn } = createSpanTracer(spans);
  const propagator = new W3CTraceContextPropagator();

  return {
    tracer,
    serve(request, response, handle) {
      const parent = propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
      const { name, attributes } = describeRequest(request);
      const span = spans.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
      response.once('close', () => {
        const { statusCode, headersSent, writableFinished } = response;
        if (headersSent) span.setAttribute('http.response.status_code', statusCode);
        if (statusCode >= 500)
          span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', `${statusCode}`);
        else if (!writableFinished) span.setAttribute('error.type', 'connection_closed');
        span.end();
      });
      runIn(trace.setSpan(parent, span), handle);
    },
    async close() {
      const deadline = sleep(flushTimeoutMs, 'The receiver does not respond', { ref: false });
      const flushed = provider.shutdown().catch(messageOf);
      const reason = await Promise.race([flushed, deadline]);
      if (reason) log.warn('Exporting traces failed', { reason });
    },
  };
}

/** Logs failures of the exporter. */
function reportFailures(log: Log): void {
  let nextReportAt = 0;
  setGlobalErrorHandler((error) => {
    if (Date.now() < nextReportAt) return;
    nextReportAt = Date.now() + REPORT_INTERVAL_MS;
    log.warn('Exporting traces failed', { reason: messageOf(error) });
  });
}

/** The sampler of `OTEL_TRACES_SAMPLER`. @param ratio share of traces, for the two samplers by ratio */
function createSampler(name: Settings['otelTracesSampler'], ratio: number): Sampler {
  const samplers = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  };
  const root = samplers[name.replace('parentbased_', '') as keyof typeof samplers]();
  return name.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

/** Traces of requests. */
export interface Tracing {
  /** Handles a request in a span of its own, below the one that its `traceparent` names (W3C Trace Context). */
  serve(request: IncomingMessage, response: ServerResponse, handle: () => void): void;
}

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'DELETE', 'PATCH']);
const MAX_CHARS = 200;

/**
 * Name and attributes of the span of a request, by the semantic conventions for HTTP. The path of an operation is its
 * template: that of a stream contains a key, and the query of others a link.
 */
export function describeRequest({ method = '', url = '', headers, httpVersion }: IncomingMessage) {
  const knownMethod = METHODS.has(method) ? method : '_OTHER';
  const operation = operationOf(url);
  const route = operation === 'page' ? undefined : getOperation(operation).path;
  const path = route ?? (url.split('?', 1)[0] ?? '').slice(0, MAX_CHARS);
  const userAgent = headers['user-agent']?.slice(0, MAX_CHARS);
  return {
    name: `${knownMethod === '_OTHER' ? 'HTTP' : knownMethod}${route ? ` ${route}` : ''}`,
    attributes: {
      'http.request.method': knownMethod,
      'url.scheme': 'http',
      'url.path': path,
      'network.protocol.version': httpVersion,
      ...(route && { 'http.route': route }),
      ...(userAgent && { 'user_agent.original': userAgent }),
    },
  };
}
