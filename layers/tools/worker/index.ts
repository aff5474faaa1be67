export { type OperatorOptions, writeConfig, writeCookies } from './operator-files.ts';
export { createWorkerDirectory } from './worker-directory.ts';
export { startWorker, WorkerKilled, type WorkerOptions, type WorkerProcess } from './worker-process.ts';
export type { WorkerFailure, WorkerFailureKind, WorkerRequest, WorkerResponse } from './worker-protocol.ts';
export { extractionFlags } from './yt-dlp-flags.ts';
