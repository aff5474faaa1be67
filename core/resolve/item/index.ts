export { epochSeconds, identify, RETENTION_SECONDS } from './assemble.ts';
export { type CachedState, createCachedState, type ResourceState } from './cached-state.ts';
export { isList, isNamedByList, isSearch, type ListedEntry, readEntries, toUnresolved } from './list-entries.ts';
export { findItem, refreshTracks } from './refresh-tracks.ts';
export { createSaveItem, type SaveItem } from './save-item.ts';
