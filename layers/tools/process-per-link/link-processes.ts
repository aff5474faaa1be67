import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { abortable, createSemaphore } from '../../../core/concurrency/index.ts';
import { isExecutable } from '../process/index.ts';
import {
  createWorkerDirectory,
  type WorkerFailure,
  type WorkerOptions,
  type WorkerProcess,
  type WorkerRequest,
  type WorkerResponse,
} from '../worker/index.ts';
import { readFailure } from './failure-report.ts';
import { runtimeScript } from './limited-command.ts';
import { isEmptyPlaylist, NO_OUTPUT, readInfo } from './read-info.ts';
import { type RunResult, runYtDlp } from './run-yt-dlp.ts';

/**
 * yt-dlp as one process per request, with the interface, limits and failures of the warm worker: for a version that the
 * worker's plugin does not fit. Each request starts a Python interpreter, which takes about a second more.
 */
export async function startLinkProcesses(options: WorkerOptions): Promise<WorkerProcess> {
  const { ytDlp, memoryBytes, concurrency, pluginDirs = [], signal: closed } = options;
  const dir = await createWorkerDirectory();
  const jsRuntime = await writeRuntime(dir);
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
      release = await slots.acquire(ending);
    } catch {
      return { failure: abortFailure() ?? { kind: 'cancelled' } };
    }
    const startedAt = performance.now();
    const work = runYtDlp(request, {
      ...{ ytDlp, memoryBytes, pluginDirs, dir, jsRuntime, operator: options },
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
      return 'info' in outcome ? { id, ok: true, ...outcome } : { id, ok: false, error: outcome.failure };
    },
    ended: ended.promise,
    hasEnded: () => closing.signal.aborted,
    wasKilled: () => false,
    close,
  };
}

type Outcome =
  | { readonly info: Record<string, unknown>; readonly waitedMs?: number; readonly extractedMs?: number }
  | { readonly failure: WorkerFailure };

/** The response to a request, from what its process has printed. */
export function outcomeOf(result: RunResult, { proxy }: Pick<WorkerRequest, 'proxy'>): Outcome {
  const { stdout, stderr, isTooLarge, wasKilled, spawnError } = result;
  if (spawnError !== undefined) return { failure: { kind: 'crash', message: spawnError } };
  if (isTooLarge) return { failure: { kind: 'too_large', message: 'The output is too large' } };
  if (wasKilled) return { failure: { kind: 'crash', isInterrupted: true } };
  const info = readInfo(stdout);
  const failure = readFailure(stderr);
  const hasError = failure.kind !== 'crash';
  if (info && !(hasError && isEmptyPlaylist(info))) return { info: { ...info } };
  if (!hasError && failure.message === '') return { failure: NO_OUTPUT };
  // A message may contain the proxy URL, with the credentials of this request.
  return { failure: { ...failure, message: failure.message?.replaceAll(proxy, 'the proxy') } };
}

/** A program that starts this Node. Where the folder permits no programs, Node itself, which may not start in the limits. */
async function writeRuntime(dir: string): Promise<string> {
  const path = join(dir, 'node');
  await writeFile(path, runtimeScript(process.execPath), { mode: 0o700 });
  return (await isExecutable(path)) ? path : process.execPath;
}
