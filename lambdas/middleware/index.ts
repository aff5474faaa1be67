export {
  clientOfEvent,
  createHandler,
  type Event,
  type Handler,
  type HandlerOptions,
  type HttpMiddleware,
  headerOf,
  type InvocationContext,
  type Result,
  signKeyFor,
} from './create-handler.ts';
export { routeEvent, routeOperation } from './dispatch.ts';
export { measureResolve, resolveMetrics } from './resolve-metrics.ts';
