export {
  extractionFlags,
  type OperatorOptions,
  writeCertificates,
  writeConfig,
  writeCookies,
} from './extraction-options.ts';
export { CONFINED, writeSandbox, writeSandboxPlugin } from './sandbox-file.ts';
export { createWorkerDirectory } from './worker-directory.ts';
export { startWorker, WorkerKilled, type WorkerOptions, type WorkerProcess } from './worker-process.ts';
export {
  type LargeResponse,
  MAX_PARSED_BYTES,
  type OperatorCookie,
  type WorkerFailure,
  type WorkerFailureKind,
  type WorkerRequest,
  type WorkerResponse,
  type WorkerSandbox,
} from './worker-protocol.ts';
