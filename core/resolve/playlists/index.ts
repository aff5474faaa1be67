export { isNamedByList, isSearch, type ListedEntry, readEntries, toUnresolved } from './list-entries.ts';
export {
  isUnresolved,
  type List,
  type ListItem,
  numberEntries,
  type Place,
  type ResolvedPlaylist,
  readList,
  toItem,
  toPlaylist,
  withGaps,
} from './playlist.ts';
