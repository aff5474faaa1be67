export { assemble, epochSeconds, identify, KEPT_SECONDS } from './assemble.ts';
export { createStore, type Store, type StoreState } from './cached-state.ts';
export { isList, isNamedByList, isSearch, type ListedEntry, readEntries, toUnresolved } from './list-entries.ts';
export { carryOver } from './merge-resource.ts';
export { normalizeLink } from './normalize-link.ts';
export { findItem, renew } from './refresh-tracks.ts';
