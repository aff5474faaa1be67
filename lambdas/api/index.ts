export type { Event, Handler, Result } from '../http-handler.ts';
export { createFanOut, createResolveEntry, type EntryEvent } from './fan-out.ts';
export { createAppHandlers, createFunctions, createResolvingHandlers } from './functions.ts';
export { createGetApiDescription } from './get-api-description.ts';
export type { Sample } from './get-app-info.ts';
