import { getRetryDelay } from '../../concurrency/index.ts';
import { messageOf } from '../../errors/index.ts';
import { run } from '../process/index.ts';
import { startLinkProcesses } from '../process-per-link/index.ts';
import type { YtDlpMode } from '../tools.ts';
import {
  startWorker,
  WorkerKilled,
  type WorkerOptions,
  type WorkerProcess,
  type WorkerResponse,
} from '../worker/index.ts';

export interface StartOptions extends WorkerOptions {
  /** Called with the mode that requests use from now on, and why it is not the warm worker. */
  readonly onMode?: (mode: YtDlpMode, reason?: string) => void;
  /** How a warm worker is started. */
  readonly startWarm?: typeof startWorker;
  /** Milliseconds until a worker is tried again. @default 10 minutes, twice as long after each failure */
  readonly retryDelayMs?: number;
}

const VERSION_TIMEOUT_MS = 60_000;
const RETRY = { initialDelayMs: 10 * 60_000, maxDelayMs: 6 * 3_600_000 };
/** Failures that a plugin causes which does not fit its yt-dlp. */
const SUSPECT_KINDS: ReadonlySet<string> = new Set(['bug', 'crash', 'timeout']);
/** A request with less time left is not repeated. */
const MIN_REPEAT_SECONDS = 2;
/** A worker ends its fork at the deadline by itself; its answer is awaited for this much longer. */
const CANCEL_GRACE_MS = 500;

/**
 * Starts yt-dlp: as a warm worker, else as one process per link, when the worker's plugin does not fit this version. A worker
 * that has started is replaced too while it has not answered any request properly and a process of its own does.
 * @throws WorkerKilled; Error when yt-dlp runs neither way
 */
export async function startYtDlp(options: StartOptions): Promise<WorkerProcess> {
  const { onMode = () => undefined, startWarm = startWorker, ytDlp } = options;
  if (ytDlp.mode === 'process-per-link') {
    const processes = await startLinkProcesses(options);
    onMode('process-per-link', 'the smoke test of this version passed in this mode only');
    return processes;
  }
  try {
    const warm = await startWarm(options);
    onMode('worker');
    return createRunner({ warm }, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    if (error instanceof WorkerKilled) throw error;
    await checkCommandLine(options).catch(() => {
      throw error;
    });
    onMode('process-per-link', messageOf(error));
    return createRunner({ warm: undefined }, options);
  }
}

/** @throws Error in one line when yt-dlp does not run at all */
async function checkCommandLine({ ytDlp, signal }: StartOptions): Promise<void> {
  const [program, ...args] = ytDlp.command;
  const env = { LANG: 'C.UTF-8' };
  await run(program, [...args, '--ignore-config', '--version'], { env, timeoutMs: VERSION_TIMEOUT_MS, signal });
}

type Request = Parameters<WorkerProcess['request']>[0];

/** Sends requests to a warm worker, or to processes of their own while there is none. */
function createRunner(first: { readonly warm: WorkerProcess | undefined }, options: StartOptions): WorkerProcess {
  const { onMode = () => undefined, startWarm = startWorker, retryDelayMs } = options;
  const ended = Promise.withResolvers<void>();
  let warm = first.warm;
  let processes: Promise<WorkerProcess> | undefined;
  /** Whether the worker has answered a request as one whose plugin fits this version. */
  let isProven = false;
  /** The worker did not answer in time. */
  let isSlow = false;
  let isClosed = false;
  let attempts = 0;
  let retryTimer: NodeJS.Timeout | undefined;

  const linkProcesses = () => {
    processes ??= startLinkProcesses(options);
    return processes;
  };

  const useProcesses = (reason: string) => {
    const worker = warm;
    if (!worker || isClosed) return;
    warm = undefined;
    onMode('process-per-link', reason);
    void worker.close();
    scheduleRetry();
  };

  const watch = (worker: WorkerProcess) =>
    void worker.ended.then(() => {
      if (warm !== worker) return;
      if (isProven || worker.wasKilled() || isClosed) return ended.resolve();
      useProcesses('the worker exited before it answered a request');
    });

  /** The worker may have failed because of the machine, or of one site. */
  const scheduleRetry = () => {
    if (isClosed) return;
    attempts += 1;
    const delayMs = retryDelayMs ?? getRetryDelay(attempts, RETRY);
    retryTimer = setTimeout(() => void retry(), delayMs).unref();
  };
  const retry = async () => {
    const worker = await startWarm(options).catch(() => undefined);
    if (isClosed) return worker?.close();
    if (!worker) return scheduleRetry();
    warm = worker;
    isProven = false;
    isSlow = false;
    watch(worker);
    onMode('worker');
  };

  /** Whether an answer of the worker proves that its plugin fits: a result, or a failure that it has classified. */
  const isProof = (response: WorkerResponse, signal: AbortSignal | undefined): boolean => {
    if (response.ok) return true;
    const { kind } = response.error;
    return !SUSPECT_KINDS.has(kind) && !(kind === 'cancelled' && signal?.aborted === true);
  };

  /**
   * Sends a request to a worker that is not proven yet; when it fails in a way that a proven one does not, to a
   * process.
   */
  const requestUnproven = async (
    worker: WorkerProcess,
    request: Request,
    signal?: AbortSignal,
  ): Promise<WorkerResponse> => {
    const startedAt = performance.now();
    const response = isSlow
      ? await requestWithHalfTime(worker, request, signal)
      : await worker.request(request, signal);
    if (isProof(response, signal)) {
      isProven ||= worker === warm;
      return response;
    }
    const failure = response.ok ? undefined : response.error;
    // The worker or its fork was killed from outside.
    if (failure?.isInterrupted && (worker.wasKilled() || !worker.hasEnded())) return response;
    isSlow ||= failure?.kind === 'timeout' || isTimeout(signal);
    const timeoutSeconds = request.timeoutSeconds - (performance.now() - startedAt) / 1000;
    if (signal?.aborted || timeoutSeconds < MIN_REPEAT_SECONDS) return response;
    const second = await (await linkProcesses()).request({ ...request, timeoutSeconds }, signal);
    if (second.ok && worker === warm && !isProven) useProcesses(`the worker failed with ${failure?.kind}`);
    return second;
  };

  /** After a request that timed out, the worker has half of the time, and a process the rest. */
  const requestWithHalfTime = (worker: WorkerProcess, request: Request, signal?: AbortSignal) => {
    const timeoutSeconds = request.timeoutSeconds / 2;
    const timeout = AbortSignal.timeout(timeoutSeconds * 1000 + CANCEL_GRACE_MS);
    return worker.request({ ...request, timeoutSeconds }, signal ? AbortSignal.any([signal, timeout]) : timeout);
  };

  if (warm) watch(warm);
  else scheduleRetry();

  return {
    async request(request, signal) {
      const worker = warm;
      if (!worker) return (await linkProcesses()).request(request, signal);
      return isProven ? worker.request(request, signal) : requestUnproven(worker, request, signal);
    },
    ended: ended.promise,
    // A worker that is replaced by processes has not ended for its callers.
    hasEnded: () => isClosed || Boolean(warm?.hasEnded() && (isProven || warm.wasKilled())),
    wasKilled: () => warm?.wasKilled() ?? false,
    async close() {
      isClosed = true;
      clearTimeout(retryTimer);
      await Promise.all([warm?.close(), processes?.then((started) => started.close())]);
      ended.resolve();
    },
  };
}

const isTimeout = (signal: AbortSignal | undefined): boolean =>
  signal?.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
