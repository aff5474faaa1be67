export { toArchivedList, toChapterList } from './archived-list.ts';
export { checkLinks, createResolver, type Resolver, type ResolverOptions } from './create-resolver.ts';
export {
  type EntriesAhead,
  type EntryRequest,
  type ListItem,
  numberEntries,
  type ResolvedPlaylist,
  type ResolveEntry,
} from './playlist.ts';
export { readBody } from './probe/index.ts';
export {
  describeSmallest,
  exactBytes,
  findSound,
  languageName,
  languageTag,
  listSounds,
  type Sound,
  selectQuality,
} from './renditions/index.ts';
export type { PageOfList, ResolveBounds, Resolved } from './resolve-link.ts';
export { normalizeLink, permanentReason } from './yt-dlp/index.ts';
