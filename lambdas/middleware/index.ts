export { createHandler, type Handler, type HandlerOptions } from './create-handler.ts';
export type { Event, HttpMiddleware, Result } from './event.ts';
export { loadTools } from './load-tools.ts';
export { logContext } from './log-context.ts';
export { resolveMetrics } from './resolve-metrics.ts';
export { routeEvent } from './route-event.ts';
