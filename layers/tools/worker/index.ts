export { extractionFlags, type OperatorOptions, writeConfig, writeCookies } from './extraction-options.ts';
export { createWorkerDirectory } from './worker-directory.ts';
export { startWorker, WorkerKilled, type WorkerOptions, type WorkerProcess } from './worker-process.ts';
export type { WorkerFailure, WorkerFailureKind, WorkerRequest, WorkerResponse } from './worker-protocol.ts';
