export { toArchivedList, toChapterList } from './archived-list.ts';
export { checkLinks } from './check-links.ts';
export { createResolver, type Resolver, type ResolverOptions } from './create-resolver.ts';
export type { EntryRequest, Resolved, ResolveEntry, ResolveOptions } from './link/index.ts';
export { type ListItem, numberEntries, type ResolvedPlaylist } from './playlists/index.ts';
export { collect } from './probe/index.ts';
export {
  describeSmallest,
  exactBytes,
  findSound,
  listSounds,
  type Sound,
  selectQuality,
} from './renditions/index.ts';
export { isFinal, normalizeLink } from './yt-dlp/index.ts';
