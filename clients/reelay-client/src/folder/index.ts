export { hasFolderState } from './folder-state.ts';
export { type SyncedEntry, type SyncOptions, syncList } from './sync-list.ts';
