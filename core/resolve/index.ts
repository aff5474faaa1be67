export { createResolver } from './create-resolver.ts';
export { selectQuality } from './renditions/index.ts';
export type { EntryRequest, Resolved, ResolvedPlaylist, ResolveEntry, Resolver } from './resolver.ts';
export { normalizeLink } from './yt-dlp/index.ts';
