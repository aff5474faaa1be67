export { isNamedByList, isSearch, type ListedEntry, readEntries, toUnresolved } from './list-entries.ts';
