/** Attributes by their name in OpenTelemetry's semantic conventions; undefined ones are left out. No secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** One timed operation of a trace. */
export interface Span {
  set(attributes: SpanAttributes): void;
  /** Marks it as failed. */
  fail(error: unknown): void;
  end(): void;
}

export interface SpanOptions {
  /** `client`: a request to another server. @default 'internal' */
  readonly kind?: 'internal' | 'client';
  readonly attributes?: SpanAttributes;
}

/** Records spans. The host sets one while traces are exported. */
export interface Tracer {
  /** Starts a span below the one that is active. */
  startSpan(name: string, options: SpanOptions): Span;
  /** Runs work while a span of this tracer is active, its asynchronous continuations included. */
  activate<T>(span: Span, work: () => T): T;
  /** Returns a function that runs work under the span that is active now. */
  capture(): RunInSpan;
}

/** Runs a function under one span. */
export type RunInSpan = <T>(work: () => T) => T;

const noop = () => undefined;
const NO_SPAN: Span = { set: noop, fail: noop, end: noop };
const RUN: RunInSpan = (work) => work();

let tracer: Tracer | undefined;

/** Sets the tracer of this process; undefined: spans cost nothing. */
export function setTracer(next: Tracer | undefined): void {
  tracer = next;
}

/** Starts a span, which the caller ends. @param describe called only while there is a tracer */
export const startSpan = (name: string, describe: () => SpanOptions = () => ({})): Span =>
  tracer ? tracer.startSpan(name, describe()) : NO_SPAN;

/** Runs an operation in a span. @param describe called only while there is a tracer */
export async function withSpan<T>(
  name: string,
  work: (span: Span) => Promise<T>,
  describe?: () => SpanOptions,
): Promise<T> {
  if (!tracer) return work(NO_SPAN);
  const span = startSpan(name, describe);
  try {
    return await tracer.activate(span, () => work(span));
  } catch (error) {
    span.fail(error);
    throw error;
  } finally {
    span.end();
  }
}

/**
 * Returns a function that runs callbacks under the span that is active now. For callbacks of what several requests share,
 * such as a pooled connection: they would run under the span of whichever request opened it.
 */
export const captureSpan = (): RunInSpan => tracer?.capture() ?? RUN;
