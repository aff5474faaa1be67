export { createResolver } from './create-resolver.ts';
export { normalizeLink } from './item/index.ts';
export { selectQuality } from './renditions/index.ts';
export type { EntryRequest, Resolved, ResolvedPlaylist, ResolveEntry, Resolver } from './resolver.ts';
