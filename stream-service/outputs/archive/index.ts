export { type ArchiveJobs, createArchiveJobs } from './jobs.ts';
export { type ArchivesDependencies, createArchives } from './open.ts';
export { type PlannedArchive, planArchive } from './plan.ts';
