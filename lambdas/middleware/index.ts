export { createHandler, type Handler, type HandlerOptions } from './create-handler.ts';
export { routeEvent, routeOperation } from './dispatch.ts';
export {
  clientOfEvent,
  type Event,
  type HttpMiddleware,
  headerOf,
  type InvocationContext,
  type Result,
  signKeyFor,
} from './event.ts';
export { loadTools } from './load-tools.ts';
export { logContext } from './log-context.ts';
export { resolveMetrics } from './resolve-metrics.ts';
