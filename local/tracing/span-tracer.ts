import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type Span as OtelSpan,
  type Tracer as OtelTracer,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { describeError, type Span, type SpanAttributes, type Tracer } from '../../core/log/index.ts';

export interface SpanTracer {
  readonly tracer: Tracer;
  /** Runs work in a context, its asynchronous continuations included. */
  runIn<T>(context: Context, work: () => T): T;
}

/** Maximum characters of a failure: most are one line. */
const MAX_MESSAGE_CHARS = 500;

/** The spans of this service as spans of OpenTelemetry; the active one is kept by `AsyncLocalStorage`. */
export function createSpanTracer(spans: OtelTracer): SpanTracer {
  const storage = new AsyncLocalStorage<Context>();
  const active = () => storage.getStore() ?? ROOT_CONTEXT;
  const wrapped = new WeakMap<Span, OtelSpan>();

  const wrap = (span: OtelSpan): Span => {
    const own: Span = {
      set: (attributes) => void span.setAttributes(dropUndefined(attributes)),
      fail(error) {
        const type = error instanceof Error ? error.name : typeof error;
        span.setAttribute('error.type', type);
        span.setStatus({ code: SpanStatusCode.ERROR, message: describeError(error).slice(0, MAX_MESSAGE_CHARS) });
      },
      end: () => span.end(),
    };
    wrapped.set(own, span);
    return own;
  };

  return {
    tracer: {
      startSpan: (name, { kind, attributes = {} }) =>
        wrap(
          spans.startSpan(
            name,
            { kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL, attributes: dropUndefined(attributes) },
            active(),
          ),
        ),
      activate(span, work) {
        const otelSpan = wrapped.get(span);
        return otelSpan ? storage.run(trace.setSpan(active(), otelSpan), work) : work();
      },
      capture() {
        const context = active();
        return (work) => storage.run(context, work);
      },
    },
    runIn: (context, work) => storage.run(context, work),
  };
}

const dropUndefined = (attributes: SpanAttributes): Record<string, string | number | boolean> =>
  Object.fromEntries(
    Object.entries(attributes).filter((entry): entry is [string, string | number | boolean] => entry[1] !== undefined),
  );
