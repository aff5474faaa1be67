export { createHandler, type Handler, type HandlerOptions } from './create-handler.ts';
export type { Event, Result } from './event.ts';
export { measured } from './resolve-metrics.ts';
