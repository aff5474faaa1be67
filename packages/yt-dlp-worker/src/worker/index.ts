export { startLinkProcesses } from './link-processes.ts';
export { type OperatorOptions, prepareHome } from './process-home.ts';
export { startWorker, WorkerKilled, type WorkerOptions, type WorkerProcess } from './worker-process.ts';
export type {
  OperatorCookie,
  WorkerFailure,
  WorkerFailureKind,
  WorkerRequest,
  WorkerResponse,
} from './worker-protocol.ts';
