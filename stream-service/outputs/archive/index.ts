export { chooseRendition, readStored, resolveEntry } from './choose-entry.ts';
export { listContents } from './contents.ts';
export { isAtLimit, isFinal } from './entry-feed.ts';
export { type ArchiveJobs, createArchiveJobs } from './jobs.ts';
export { type ArchivesDependencies, createArchives } from './open.ts';
export { type PlannedArchive, planArchive } from './plan.ts';
