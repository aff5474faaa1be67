export { createResolver } from './create-resolver.ts';
export type { EntryRequest, Resolved, ResolvedPlaylist, ResolveEntry, Resolver } from './resolver.ts';
