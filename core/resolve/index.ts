export { createResolver } from './create-resolver.ts';
export { selectQuality } from './renditions/index.ts';
export type { EntryRequest, Resolved, ResolvedPlaylist, ResolveEntry, Resolver } from './resolver.ts';
export { normalizeLink, renderFormatReference } from './yt-dlp/index.ts';
