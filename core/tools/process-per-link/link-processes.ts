import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { abortable, createSemaphore } from '../../concurrency/index.ts';
import {
  createWorkerDirectory,
  type LargeResponse,
  MAX_PARSED_BYTES,
  type WorkerFailure,
  type WorkerOptions,
  type WorkerProcess,
  type WorkerRequest,
  type WorkerResponse,
  writeSandboxPlugin,
} from '../worker/index.ts';
import { hasTimedOut, readFailure } from './failure-report.ts';
import { isEmptyPlaylist, NO_OUTPUT, readInfo } from './read-info.ts';
import { type RunResult, runYtDlp } from './run-yt-dlp.ts';

/**
 * yt-dlp as one process per request, with the interface, limits and failures of the warm worker: for a version that the
 * worker's plugin does not fit. Each request starts a Python interpreter, which takes about a second more.
 */
export async function startLinkProcesses(options: WorkerOptions): Promise<WorkerProcess> {
  const { ytDlp, memoryBytes, concurrency, pluginDirs = [], signal: closed } = options;
  const dir = await createWorkerDirectory();
  const sandboxPlugin = await writeSandboxPlugin(join(dir, 'plugins'));
  const slots = createSemaphore({ permits: Math.max(1, concurrency) });
  const closing = new AbortController();
  const ended = Promise.withResolvers<void>();
  const running = new Set<Promise<unknown>>();
  let requests = 0;

  const close = async () => {
    closing.abort();
    closed?.removeEventListener('abort', close);
    await Promise.all(running);
    await rm(dir, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
    ended.resolve();
  };
  if (closed?.aborted) await close();
  else closed?.addEventListener('abort', close, { once: true });

  const run = async (request: Omit<WorkerRequest, 'id'>, signal: AbortSignal): Promise<Outcome> => {
    const receivedAt = performance.now();
    const deadline = AbortSignal.timeout(Math.ceil(request.timeoutSeconds * 1000));
    const ending = AbortSignal.any([signal, deadline, closing.signal]);
    const abortFailure = (): WorkerFailure | undefined => {
      if (signal.aborted) return { kind: 'cancelled' };
      if (closing.signal.aborted) return { kind: 'crash', isInterrupted: true };
      return deadline.aborted ? { kind: 'timeout', message: 'The deadline passed' } : undefined;
    };
    let release: () => void;
    try {
      ({ release } = await slots.acquire('', ending));
    } catch {
      return { failure: abortFailure() ?? { kind: 'cancelled' } };
    }
    const startedAt = performance.now();
    const work = runYtDlp(request, {
      ...{ ytDlp, memoryBytes, pluginDirs, dir, sandboxPlugin, operator: options },
      signal: ending,
    }).finally(release);
    running.add(work);
    void work.finally(() => running.delete(work));
    // Settled at once when it is aborted: the process is killed meanwhile.
    const result = await abortable(work, ending).catch(() => undefined);
    const failure = abortFailure();
    if (failure || !result) return { failure: failure ?? { kind: 'cancelled' } };
    const outcome = outcomeOf(result, request);
    const [waitedMs, extractedMs] = [startedAt - receivedAt, performance.now() - startedAt];
    return 'info' in outcome ? { ...outcome, waitedMs, extractedMs } : outcome;
  };

  return {
    async request(request, signal = new AbortController().signal): Promise<WorkerResponse> {
      const id = String(++requests);
      const outcome = await run(request, signal);
      return 'failure' in outcome ? { id, ok: false, error: outcome.failure } : { id, ok: true, ...outcome };
    },
    ended: ended.promise,
    hasEnded: () => closing.signal.aborted,
    wasKilled: () => false,
    close,
  };
}

type Outcome =
  | {
      readonly info: Record<string, unknown>;
      readonly isIncomplete?: boolean;
      readonly waitedMs?: number;
      readonly extractedMs?: number;
    }
  | Pick<LargeResponse, 'json'>
  | { readonly failure: WorkerFailure };

/** The response to a request, from what its process has printed. */
export function outcomeOf(result: RunResult, { proxy }: Pick<WorkerRequest, 'proxy'>): Outcome {
  const { stdout, stderr, isTooLarge, wasKilled, isConfined, spawnError } = result;
  if (spawnError !== undefined) return { failure: { kind: 'crash', message: spawnError } };
  if (isTooLarge) return { failure: { kind: 'too_large', message: 'The output is too large' } };
  if (wasKilled) return { failure: { kind: 'crash', isInterrupted: true } };
  if (!isConfined && stdout !== '') return { failure: NOT_CONFINED };
  const isIncomplete = hasTimedOut(stderr);
  if (stdout.length > MAX_PARSED_BYTES) return { json: Buffer.from(largeAnswer(stdout, isIncomplete)) };
  const info = readInfo(stdout);
  const failure = readFailure(stderr);
  const hasError = failure.kind !== 'crash';
  if (info && !(hasError && isEmptyPlaylist(info))) return { info: { ...info }, ...(isIncomplete && { isIncomplete }) };
  if (!hasError && failure.message === '') return { failure: NO_OUTPUT };
  // A message may contain the proxy URL, with the credentials of this request.
  return { failure: { ...failure, message: failure.message?.replaceAll(proxy, 'the proxy') } };
}

/** This version of yt-dlp does not load the plugin. */
const NOT_CONFINED: WorkerFailure = { kind: 'crash', message: 'yt-dlp ran without its limits' };

/** As the worker answers. What was printed may not be JSON. */
const largeAnswer = (stdout: string, isIncomplete: boolean): string =>
  `{"ok":true,"isIncomplete":${isIncomplete},"info":${stdout}}`;
