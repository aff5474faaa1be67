export { assembleResource, epochSeconds, identify, RETENTION_SECONDS } from './assemble.ts';
export { type CachedState, createCachedState, type ResourceState } from './cached-state.ts';
export { isNamedByList, isSearch, type ListedEntry, readEntries, toUnresolved } from './list-entries.ts';
export { mergeResource } from './merge-resource.ts';
export { findItem, refreshTracks } from './refresh-tracks.ts';
export { createRenewals, hasExpired } from './renewals.ts';
