export { smokeTestYtDlp } from './smoke-test.ts';
export { startWorker, WorkerKilled, type WorkerOptions, type WorkerProcess } from './worker-process.ts';
export type { WorkerFailure, WorkerFailureKind } from './worker-protocol.ts';
