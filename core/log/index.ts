export { describeError, fieldsWithoutSecrets, type Log, silentLog, withoutSecrets } from './log.ts';
export {
  captureSpan,
  type RunInSpan,
  type Span,
  type SpanAttributes,
  type SpanOptions,
  setTracer,
  startSpan,
  type Tracer,
  withSpan,
} from './spans.ts';
