import { expect } from 'vitest';
import type { YtDlp, YtDlpMode } from '../../../packages/yt-dlp-worker/src/tools.ts';
import type { WorkerOptions, WorkerProcess } from '../../../packages/yt-dlp-worker/src/worker/worker-process.ts';
import type {
  WorkerFailure,
  WorkerRequest,
  WorkerResponse,
} from '../../../packages/yt-dlp-worker/src/worker/worker-protocol.ts';

export interface PendingRequest {
  readonly request: Omit<WorkerRequest, 'id'>;
  readonly signal: AbortSignal | undefined;
  answer(info: Record<string, unknown>, isIncomplete?: boolean): void;
  fail(error: WorkerFailure): void;
}

export interface FakeWorker {
  readonly options: WorkerOptions;
  /** Requests without a response, oldest first. */
  readonly pending: PendingRequest[];
  closed: boolean;
  /** Exits like a killed process. */
  crash(): void;
}

/** A build whose failures are not repeated in another mode. */
export const fakeYtDlp = (version = '1'): YtDlp => ({
  version,
  command: ['yt-dlp', version],
  source: 'release',
  mode: 'process-per-link',
});

/** Fake workers: the test responds to pending requests, unless `answers` does. */
export function fakeWorkers(answers?: (request: Omit<WorkerRequest, 'id'>) => Record<string, unknown> | WorkerFailure) {
  const workers: FakeWorker[] = [];

  const start = async (_: YtDlpMode, options: WorkerOptions): Promise<WorkerProcess> => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let hasEnded = false;
    const worker: FakeWorker = {
      options,
      pending: [],
      closed: false,
      crash: () => {
        hasEnded = true;
        for (const pendingRequest of worker.pending.splice(0)) pendingRequest.fail({ kind: 'crash' });
        end();
      },
    };
    workers.push(worker);
    return {
      ended,
      hasEnded: () => hasEnded,
      close: async () => {
        worker.closed = true;
        worker.crash();
      },
      request: (request, signal) =>
        new Promise<WorkerResponse>((settle) => {
          const pendingRequest: PendingRequest = {
            request,
            signal,
            answer: (info, isIncomplete) => settle({ ok: true, info, isIncomplete }),
            fail: (error) => settle({ ok: false, error }),
          };
          const given = answers?.(request);
          if (given && 'kind' in given) return pendingRequest.fail(given as unknown as WorkerFailure);
          if (given) return pendingRequest.answer(given);
          worker.pending.push(pendingRequest);
          signal?.addEventListener('abort', () => pendingRequest.fail({ kind: 'cancelled' }), { once: true });
        }),
    };
  };

  /** The requests of a worker that have no answer, once there are so many. */
  const untilPending = async (count = 1, index = 0) => {
    await expect.poll(() => workers[index]?.pending.length, { interval: 5 }).toBe(count);
    return workers[index]?.pending ?? [];
  };

  /** Answers the one request that has no answer, once there is one. */
  const answerNext = async (info: Record<string, unknown>, isIncomplete?: boolean) =>
    (await untilPending()).shift()?.answer(info, isIncomplete);

  return { workers, start, untilPending, answerNext };
}
