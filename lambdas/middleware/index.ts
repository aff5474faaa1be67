export {
  type Answer,
  clientOfEvent,
  createHandler,
  type Event,
  type Handler,
  type HandlerOptions,
  type HttpMiddleware,
  headerOf,
  type InvocationContext,
  type Result,
  refuseCrossSite,
  report,
  signKeyFor,
} from './create-handler.ts';
export { createNotFound, routeEvent, routeOperations } from './dispatch.ts';
export { measureResolve } from './resolve-metrics.ts';
