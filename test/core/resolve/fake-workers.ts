import type { WorkerOptions, WorkerProcess } from '../../../layers/tools/worker/worker-process.ts';
import type { WorkerFailure, WorkerRequest, WorkerResponse } from '../../../layers/tools/worker/worker-protocol.ts';

export interface FakeQuestion {
  readonly request: Omit<WorkerRequest, 'id'>;
  readonly signal: AbortSignal | undefined;
  answer(info: Record<string, unknown>): void;
  fail(error: WorkerFailure): void;
}

export interface FakeWorker {
  readonly options: WorkerOptions;
  /** What it was asked and has not answered, oldest first. */
  readonly questions: FakeQuestion[];
  closed: boolean;
  /** Ends as a process does that was killed. */
  crash(): void;
}

/** A worker whose answers the test gives, by hand or by `answers`. */
export function fakeWorkers(answers?: (request: Omit<WorkerRequest, 'id'>) => Record<string, unknown> | WorkerFailure) {
  const workers: FakeWorker[] = [];

  const start = async (options: WorkerOptions): Promise<WorkerProcess> => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const worker: FakeWorker = {
      options,
      questions: [],
      closed: false,
      crash: () => {
        for (const question of worker.questions.splice(0)) question.fail({ kind: 'crash' });
        end();
      },
    };
    workers.push(worker);
    return {
      ended,
      close: async () => {
        worker.closed = true;
        worker.crash();
      },
      request: (request, signal) =>
        new Promise<WorkerResponse>((settle) => {
          const question: FakeQuestion = {
            request,
            signal,
            answer: (info) => settle({ id: '1', ok: true, info }),
            fail: (error) => settle({ id: '1', ok: false, error }),
          };
          const given = answers?.(request);
          if (given && 'kind' in given) return question.fail(given as unknown as WorkerFailure);
          if (given) return question.answer(given);
          worker.questions.push(question);
          signal?.addEventListener('abort', () => question.fail({ kind: 'cancelled' }), { once: true });
        }),
    };
  };

  return { workers, start };
}
