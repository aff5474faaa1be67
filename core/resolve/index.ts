export { createResolver } from './create-resolver.ts';
export type { EntryRequest, ResolveEntry, Resolver } from './resolver.ts';
