export { createExtraction } from './create-resolver.ts';
export type { EntryRequest, Extraction, ResolveEntry } from './resolver.ts';
