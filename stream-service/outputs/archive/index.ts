export { type ArchivesDependencies, createArchives } from './open.ts';
export { type PlannedArchive, planArchive } from './plan.ts';
