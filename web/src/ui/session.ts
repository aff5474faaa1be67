import { type Api, ApiFailure } from '../lib/api.ts';
import type { ResourceInformation } from '../lib/contract.ts';
import type { History } from '../lib/history.ts';
import { createSubject, type Observable } from '../lib/observable.ts';
import { resolveWhenAvailable } from '../lib/waiting.ts';
import { type Outcome, type OutcomeEvent, reduce } from './app-state.ts';

/** One link at a time: opening another ends the one before. */
export interface Session {
  readonly outcome: Observable<Outcome>;
  /** Resolves a link, waiting where that helps, and remembers what it found. */
  open(link: string): void;
  /** @param text what came in a link's place */
  close(text?: string): void;
}

export interface SessionOptions {
  readonly api: Api;
  readonly history: History;
}

export function createSession({ api, history }: SessionOptions): Session {
  const outcome = createSubject<Outcome>({ phase: 'idle' });
  let running = new AbortController();

  async function resolve(link: string, { signal }: AbortController): Promise<void> {
    const tell = (event: OutcomeEvent) => {
      if (!signal.aborted) outcome.set(reduce(outcome.get(), event));
    };
    try {
      const resource = await resolveWhenAvailable(api, link, {
        signal,
        onWaiting: (waiting) => tell({ type: 'waits', waiting }),
      });
      if (!signal.aborted) history.add({ link, ...summaryOf(resource) });
      tell({ type: 'found', resource });
    } catch (error) {
      tell({ type: 'failed', failure: toFailure(error) });
    }
  }

  function restart(event: OutcomeEvent): AbortController {
    running.abort();
    running = new AbortController();
    outcome.set(reduce(outcome.get(), event));
    return running;
  }

  return {
    outcome,
    open: (link) => void resolve(link, restart({ type: 'opened', link })),
    close: (text) => void restart({ type: 'closed', ...(text !== undefined && { text }) }),
  };
}

/** Anything thrown as a failure that has words: what nobody foresaw counts as not fetched. */
export const toFailure = (error: unknown): ApiFailure =>
  error instanceof ApiFailure ? error : new ApiFailure('failed', {}, { cause: error });

function summaryOf({ title, author, coverUrl, mediaItems }: ResourceInformation) {
  const first = mediaItems?.[0];
  return {
    title: title ?? first?.title ?? null,
    author: author ?? first?.author ?? null,
    coverUrl: coverUrl ?? first?.coverUrl ?? null,
  };
}
