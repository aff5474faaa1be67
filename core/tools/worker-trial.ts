import type { WorkerProcess, WorkerRequest, WorkerResponse } from './worker/index.ts';

/** A worker whose plugin may not fit its version of yt-dlp, which only its answers show. */
export interface WorkerTrial {
  /** Sends a request to the worker, and to a process if the worker fails in a way that may be due to its plugin. */
  request: WorkerProcess['request'];
  /** Whether an answer has shown that the plugin fits: from then on, no request needs a second attempt. */
  isProven(): boolean;
}

export interface WorkerTrialOptions {
  readonly startProcesses: () => Promise<WorkerProcess>;
  /** Called when a process has answered a request that the worker has failed. */
  readonly onMisfit: (reason: string) => Promise<void>;
}

/** Failures that are caused by a plugin that does not fit its yt-dlp. */
const SUSPECT_KINDS: ReadonlySet<string> = new Set(['bug', 'crash', 'timeout']);
/** A request with less time left is not repeated. */
const MIN_REPEAT_SECONDS = 2;
/** A worker ends its fork at the deadline by itself; its answer is awaited for this much longer. */
const CANCEL_GRACE_MS = 500;

export function tryWorker(worker: WorkerProcess, { startProcesses, onMisfit }: WorkerTrialOptions): WorkerTrial {
  let isProven = false;
  /** Whether it did not answer an earlier request in time. */
  let isSlow = false;

  const request: WorkerProcess['request'] = async (request, signal) => {
    if (isProven) return worker.request(request, signal);
    const startedAt = performance.now();
    const response = isSlow
      ? await requestWithHalfTime(worker, request, signal)
      : await worker.request(request, signal);
    if (response.ok || isClassified(response.error.kind, signal)) {
      isProven = true;
      return response;
    }
    const { kind, isInterrupted } = response.error;
    const wasKilled = isInterrupted && (worker.wasKilled() || !worker.hasEnded());
    if (wasKilled) return response;
    isSlow ||= kind === 'timeout' || isTimeout(signal);
    const timeoutSeconds = request.timeoutSeconds - (performance.now() - startedAt) / 1000;
    if (signal?.aborted || timeoutSeconds < MIN_REPEAT_SECONDS) return response;
    const processes = await startProcesses();
    const second = await processes.request({ ...request, timeoutSeconds }, signal);
    if (second.ok && !isProven) await onMisfit(`the worker failed with ${kind}`);
    return second;
  };
  return { request, isProven: () => isProven };
}

/** Whether a worker has classified a failure: its plugin fits. */
const isClassified = (kind: string, signal?: AbortSignal): boolean =>
  !SUSPECT_KINDS.has(kind) && !(kind === 'cancelled' && signal?.aborted);

/** After a request that timed out, the worker has half of the time, and a process the rest. */
function requestWithHalfTime(
  worker: WorkerProcess,
  request: Omit<WorkerRequest, 'id'>,
  signal?: AbortSignal,
): Promise<WorkerResponse> {
  const timeoutSeconds = request.timeoutSeconds / 2;
  const timeout = AbortSignal.timeout(Math.ceil(timeoutSeconds * 1000) + CANCEL_GRACE_MS);
  return worker.request({ ...request, timeoutSeconds }, signal ? AbortSignal.any([signal, timeout]) : timeout);
}

const isTimeout = (signal: AbortSignal | undefined): boolean =>
  signal?.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
