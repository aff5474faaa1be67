import type { WorkerFailure, WorkerProcess } from '../../../layers/tools/index.ts';
import { abortable, createFairSemaphore, type Deadline, deadlineSignal } from '../../concurrency/index.ts';
import type { Egress } from '../../egress/index.ts';
import { CapacityExceeded } from '../../errors/index.ts';
import { withSpan } from '../../log/index.ts';
import { toError } from './failures.ts';
import { createImpersonation } from './impersonation.ts';
import { createWorkerSupervisor, type WorkerSupervisorOptions } from './worker-supervisor.ts';
import type { Info } from './yt-dlp-info.ts';

/** One link for yt-dlp. */
export interface ExtractRequest extends Deadline {
  readonly url: string;
  /** For an entry of a list, the list's metadata of it: yt-dlp merges it into its response. */
  readonly entry?: Info;
  /** The outgoing identity to send requests through. */
  readonly identity: string;
}

/** Extracts metadata and formats of links by a warm yt-dlp. */
export interface Extractor {
  /**
   * @throws what `toError` makes of yt-dlp's failure; InMaintenance while yt-dlp is not installed; CapacityExceeded
   *   when the queue is full; TimeoutError (DOMException) at the deadline; the signal's reason once it is aborted
   */
  extract(request: ExtractRequest): Promise<Info>;
  /** Starts yt-dlp ahead of the first request. */
  warm(): Promise<void>;
  close(): Promise<void>;
}

export interface ExtractorOptions extends WorkerSupervisorOptions {
  readonly egress: Pick<Egress, 'openProxySession'>;
  /** Entries of a playlist listed at most. */
  readonly playlistLimit: number;
  /** Requests that may wait for a fork. */
  readonly queueLimit: number;
  /** Bytes that one request may download in all. */
  readonly maxBytes: number;
  /** Browsers that yt-dlp imitates: `target` or `site=target`. @default none */
  readonly impersonate?: readonly string[];
}

/** The worker ends a fork by itself at the deadline; its answer is awaited for this much longer. */
const CANCEL_GRACE_MS = 500;
const MAX_INTERRUPTIONS = 1;
/** A request waits this long before one of a client that holds more than half of the forks is interrupted and requeued. */
const REVOKE_AFTER_MS = 1_000;

/**
 * Forks of a client that has further links running or waiting get a lower priority, so that the only fork of another client
 * gets most of a processor (sched(7): each step is a factor of 1.25).
 */
const NICENESS_PER_RANK = 5;
const MAX_NICENESS = 10;

/** The process of a request was killed from outside. */
class Interrupted extends Error {}

/** Tenant of the work that the service does for itself. */
const NO_CLIENT = '';

export function createExtractor(options: ExtractorOptions): Extractor {
  const { egress, playlistLimit, queueLimit, maxBytes, concurrency } = options;
  const workers = createWorkerSupervisor(options);
  const impersonation = createImpersonation(options.impersonate ?? [], options.log);
  const forks = createFairSemaphore({
    permits: concurrency,
    maxPerTenant: Math.max(1, concurrency - 1),
    revokeAfterMs: REVOKE_AFTER_MS,
  });
  let pending = 0;

  const extractBy = async (
    starting: Promise<WorkerProcess>,
    request: ExtractRequest & { readonly niceness: number },
  ): Promise<Info> => {
    const { url, entry, identity, deadline, signal, niceness } = request;
    const bounded = deadlineSignal(request);
    const worker = await abortable(starting, bounded).catch((error) => {
      throw signal.aborted || isTimeout(error) ? error : new Interrupted(undefined, { cause: error });
    });
    const ytDlp = impersonation && options.tools.ytDlp();
    const impersonate = ytDlp && (await abortable(impersonation.targetFor(url, ytDlp), bounded));
    const session = await egress.openProxySession({ identity, maxBytes });
    try {
      const timeoutSeconds = Math.max(1, deadline - Date.now()) / 1000;
      const response = await withSpan('yt-dlp extract', async (span) => {
        const answer = await worker.request(
          { url, entry, timeoutSeconds, proxy: session.proxyUrl, flat: true, playlistLimit, niceness, impersonate },
          deadlineSignal({ deadline: deadline + CANCEL_GRACE_MS, signal }),
        );
        span.set(
          answer.ok
            ? { 'reelay.yt_dlp.waited_ms': answer.waitedMs, 'reelay.yt_dlp.extracted_ms': answer.extractedMs }
            : { 'error.type': answer.error.kind },
        );
        return answer;
      });
      signal.throwIfAborted();
      if (response.ok || response.error.kind !== 'crash') workers.confirmAlive();
      if (response.ok) return response.info;
      // So that the next attempt does not get the same worker.
      if (worker.hasEnded()) await worker.ended;
      const isTooLarge = session.bytesReceived() >= maxBytes;
      const error = toError(withProxyCause(response.error, { isRefused: session.refused(), isTooLarge }));
      throw response.error.isInterrupted ? new Interrupted(undefined, { cause: error }) : error;
    } finally {
      session.close();
    }
  };

  /**
   * One fork per request, shared fairly between clients: one whose pages never end must not occupy all of them. A request
   * whose process is killed is repeated once.
   */
  const extractInTurn = async (request: ExtractRequest): Promise<Info> => {
    const bounded = deadlineSignal(request);
    for (let interruptions = 0; ; ) {
      const permit = await forks.acquire(request.client ?? NO_CLIENT, bounded);
      try {
        const signal = AbortSignal.any([request.signal, permit.revoked]);
        const niceness = Math.min(MAX_NICENESS, NICENESS_PER_RANK * permit.rank);
        return await workers.use((worker) => extractBy(worker, { ...request, signal, niceness }));
      } catch (error) {
        if (permit.revoked.aborted) continue;
        if (!(error instanceof Interrupted)) throw error;
        interruptions += 1;
        if (interruptions > MAX_INTERRUPTIONS) throw error.cause;
      } finally {
        permit.release();
      }
    }
  };

  return {
    async extract(request) {
      if (pending >= concurrency + queueLimit) throw new CapacityExceeded('Too many links wait for yt-dlp');
      // Before the request queues: the worker starts meanwhile, or the request fails at once.
      workers.start();
      pending += 1;
      try {
        return await extractInTurn(request);
      } finally {
        pending -= 1;
      }
    },
    async warm() {
      const ytDlp = options.tools.ytDlp();
      if (ytDlp) impersonation?.prepare(ytDlp);
      await workers.warm();
    },
    close: workers.close,
  };
}

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';

/** yt-dlp reports only a closed connection; the proxy session has the reason. */
function withProxyCause(
  failure: WorkerFailure,
  { isRefused, isTooLarge }: { readonly isRefused: boolean; readonly isTooLarge: boolean },
): WorkerFailure {
  if (isTooLarge) return { ...failure, kind: 'too_large' };
  return isRefused && ['proxy', 'network', 'http'].includes(failure.kind)
    ? { ...failure, kind: 'egress_refused' }
    : failure;
}
