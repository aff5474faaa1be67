export { createFanOut, createResolveEntry, type EntryEvent } from './fan-out.ts';
export { createFunctions } from './functions.ts';
export { createGet } from './get.ts';
export { createGetApiDescription } from './get-api-description.ts';
export { createGetAppInfo } from './get-app-info.ts';
export { createGetRequestCount } from './get-request-count.ts';
export { createGetResource } from './get-resource.ts';
export { createNotFound } from './not-found.ts';
export type { MediaInformation, MediaRendition, ResourceInformation } from './resource-information.ts';
