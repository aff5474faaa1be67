import { join } from 'node:path';
import { abortable, createSemaphore } from '@reelay/concurrency';
import { parsePythonJson } from '@reelay/seekable-media/values';
import { hasTimedOut, readFailure } from './failure-report.ts';
import { writeSandboxPlugin } from './process-home.ts';
import { type RunResult, runYtDlp } from './run-yt-dlp.ts';
import { createWorkerDirectory, removeWorkerDirectory } from './worker-directory.ts';
import type { WorkerOptions, WorkerProcess } from './worker-process.ts';
import { MAX_PARSED_BYTES, type WorkerFailure, type WorkerRequest, type WorkerResponse } from './worker-protocol.ts';

/**
 * yt-dlp as one process per request, with the interface, limits and failures of the warm worker: for a version that the
 * worker's plugin does not fit. Each request starts a Python interpreter, which takes about a second more.
 */
export async function startLinkProcesses(options: WorkerOptions): Promise<WorkerProcess> {
  const { concurrency, signal: closed } = options;
  const dir = await createWorkerDirectory();
  const sandboxPlugin = await writeSandboxPlugin(join(dir, 'plugins'));
  const slots = createSemaphore({ permits: Math.max(1, concurrency) });
  const closing = new AbortController();
  const ended = Promise.withResolvers<void>();
  const running = new Set<Promise<unknown>>();

  const close = async () => {
    closing.abort();
    closed?.removeEventListener('abort', close);
    await Promise.allSettled(running);
    await removeWorkerDirectory(dir).catch(() => undefined);
    ended.resolve();
  };
  if (closed?.aborted) await close();
  else closed?.addEventListener('abort', close, { once: true });

  const run = async (request: Omit<WorkerRequest, 'id'>, signal: AbortSignal): Promise<WorkerResponse> => {
    const deadline = AbortSignal.timeout(Math.ceil(request.timeoutSeconds * 1000));
    const ending = AbortSignal.any([signal, deadline, closing.signal]);
    try {
      const { release } = await slots.acquire('', ending);
      const work = runYtDlp(request, { ...options, dir, sandboxPlugin, signal: ending }).finally(release);
      running.add(work);
      const remove = () => running.delete(work);
      work.then(remove, remove);
      // Settled at once when it is aborted: the process is killed meanwhile.
      const result = await abortable(work, ending);
      ending.throwIfAborted();
      return outcomeOf(result, request);
    } catch (error) {
      if (signal.aborted) return createFailure('cancelled');
      if (closing.signal.aborted) return { ok: false, error: INTERRUPTED };
      return deadline.aborted ? createFailure('timeout', 'The deadline passed') : createFailure('crash', String(error));
    }
  };

  return {
    request: (request, signal = new AbortController().signal) => run(request, signal),
    ended: ended.promise,
    hasEnded: () => closing.signal.aborted,
    close,
  };
}

const INTERRUPTED: WorkerFailure = { kind: 'crash', isInterrupted: true };
const createFailure = (kind: WorkerFailure['kind'], message?: string): WorkerResponse => ({
  ok: false,
  error: { kind, ...(message !== undefined && { message }) },
});

/** The response to a request, from what its process has printed. */
function outcomeOf(result: RunResult, { proxy }: Pick<WorkerRequest, 'proxy'>): WorkerResponse {
  const { stdout, stderr, isTooLarge, wasKilled, isConfined } = result;
  if (isTooLarge) return createFailure('too_large', 'The output is too large');
  if (wasKilled) return { ok: false, error: INTERRUPTED };
  // This version of yt-dlp does not load the plugin.
  if (!isConfined && stdout !== '') return createFailure('crash', 'yt-dlp ran without its limits');
  const isIncomplete = hasTimedOut(stderr);
  if (stdout.length > MAX_PARSED_BYTES) {
    // As the worker answers. What was printed may not be JSON.
    return { ok: true, json: Buffer.from(`{"ok":true,"isIncomplete":${isIncomplete},"info":${stdout}}`) };
  }
  const info = readInfo(stdout);
  const failure = readFailure(stderr);
  const hasError = failure.kind !== 'crash';
  if (info && !(hasError && isEmptyPlaylist(info)))
    return { ok: true, info: { ...info }, ...(isIncomplete && { isIncomplete }) };
  if (!hasError && failure.message === '') return createFailure('crash', 'yt-dlp printed no info');
  // A message may contain the proxy URL, with the credentials of this request.
  return { ok: false, error: { ...failure, message: failure.message?.replaceAll(proxy, 'the proxy') } };
}

type Info = Readonly<Record<string, unknown>>;

/**
 * The info dict that `yt-dlp --dump-single-json` prints.
 * @returns undefined when it printed none: `null`, nothing, or something else
 */
export function readInfo(stdout: string): Info | undefined {
  const text = stdout.trim();
  if (!text.startsWith('{')) return undefined;
  const info = parsePythonJson(text);
  return typeof info === 'object' && info !== null && !Array.isArray(info) ? (info as Info) : undefined;
}

/** Whether it is a playlist none of whose listed entries could be resolved: its result is the failure of the first one. */
export const isEmptyPlaylist = ({ _type: type, entries }: Info): boolean =>
  (type === 'playlist' || type === 'multi_video') && !(Array.isArray(entries) && entries.some(Boolean));
