import type { YtDlp } from './tools.ts';
import type { WorkerAnswer, WorkerRequest } from './worker-protocol.ts';

export interface WorkerOptions {
  readonly ytDlp: YtDlp;
  /** Extra plugin folders: only tests load any. */
  readonly pluginDirs?: readonly string[];
  /** Forks at once. */
  readonly concurrency: number;
  /** Bytes of address space a fork may take. */
  readonly memoryBytes: number;
  /** Netscape cookies file of the operator. */
  readonly cookiesFile?: string;
  readonly signal?: AbortSignal;
  readonly onStderr?: (line: string) => void;
}

/** yt-dlp running as a warm worker: forks per request, speaks JSON lines. */
export interface WorkerProcess {
  /** Settles with the answer; a dead worker answers `crash`. Aborting kills the fork and answers `cancelled`. */
  ask(request: Omit<WorkerRequest, 'id'>, signal?: AbortSignal): Promise<WorkerAnswer>;
  /** Settles when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Ends it and every fork. */
  close(): Promise<void>;
}

/** Starts a worker and waits until it is ready. @throws when it does not become ready. */
export declare function startWorker(options: WorkerOptions): Promise<WorkerProcess>;
