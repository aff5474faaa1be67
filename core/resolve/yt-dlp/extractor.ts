import { abortable, createSemaphore, type Deadline, deadlineSignal } from '../../concurrency/index.ts';
import type { Egress } from '../../egress/index.ts';
import { CapacityExceeded, UpstreamError } from '../../errors/index.ts';
import {
  type ExtractedInfo,
  type Info,
  InvalidExtraction,
  PARSE_EXTRACTION,
  type ParsingOptions,
  parse,
  readExtraction,
} from '../../parsing/index.ts';
import {
  createSupervisor,
  type SupervisorOptions,
  type WorkerFailure,
  type WorkerProcess,
  type WorkerResponse,
} from '../../tools/index.ts';
import { toError } from './failures.ts';
import { createImpersonation } from './impersonation.ts';
import { createOperatorCookies } from './operator-cookies.ts';

/** One link for yt-dlp. */
export interface ExtractRequest extends Deadline {
  readonly url: string;
  /** For an entry of a list, the list's metadata of it: yt-dlp merges it into its response. */
  readonly entry?: Info;
  /** The outgoing identity to send requests through. */
  readonly identity: string;
}

/** What yt-dlp has extracted from a link. */
export interface Extraction {
  readonly info: Info;
  /** A request took too long, and what it would have returned is missing: another extraction may find more. */
  readonly isIncomplete: boolean;
}

/** Extracts metadata and formats of links by a warm yt-dlp. */
export interface Extractor {
  /**
   * @throws what `toError` makes of yt-dlp's failure; InMaintenance while yt-dlp is not installed; CapacityExceeded
   *   when the queue is full; TimeoutError (DOMException) at the deadline; the signal's reason once it is aborted
   */
  extract(request: ExtractRequest): Promise<Extraction>;
  /** Starts yt-dlp ahead of the first request. */
  warm(): Promise<void>;
  /** Lets further links be extracted with the options and cookies as they are now. */
  renew(): void;
  close(): Promise<void>;
}

export interface ExtractorOptions extends SupervisorOptions {
  readonly egress: Pick<Egress, 'openProxySession'>;
  /** Entries of a playlist listed at most. */
  readonly playlistLimit: number;
  /** Requests that may wait for a fork. */
  readonly queueLimit: number;
  /** Bytes that one request may download in all. */
  readonly maxBytes: number;
  /** Whether cookies that a site replaces are written into the files of the operator. @default false */
  readonly cookiesWriteBack?: boolean;
  /** Browsers that yt-dlp imitates: `target` or `site=target`. @default none */
  readonly impersonate?: readonly string[];
}

/** The worker ends a fork by itself at the deadline; its answer is awaited for this much longer. */
const CANCEL_GRACE_MS = 500;
const MAX_INTERRUPTIONS = 1;
/** Retry-After while all forks are in use. */
const RETRY_SECONDS = 5;
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

/** Names the work that the service does for itself. */
const NO_CLIENT = '';

export function createExtractor(options: ExtractorOptions): Extractor {
  const { egress, playlistLimit, queueLimit, maxBytes, concurrency } = options;
  const { tools, log, impersonate: rules = [] } = options;
  const supervisor = createSupervisor(options);
  const impersonation = createImpersonation(rules, log);
  const cookies = options.cookiesWriteBack ? createOperatorCookies(options, log) : undefined;
  const forks = createSemaphore({
    permits: concurrency,
    maxPerClient: Math.max(1, concurrency - 1),
    revokeAfterMs: REVOKE_AFTER_MS,
  });
  let pending = 0;

  const extractBy = async (
    askYtDlp: WorkerProcess['request'],
    request: ExtractRequest & { readonly niceness: number },
  ): Promise<Extraction> => {
    const { url, entry, identity, deadline, signal, client, niceness } = request;
    const bounded = deadlineSignal(request);
    const build = impersonation && tools.ytDlp();
    const impersonate = build && (await abortable(impersonation.targetFor(url, build), bounded));
    const replacedCookies = await cookies?.replaced();
    const session = await egress.openProxySession({ identity, maxBytes });
    try {
      const timeoutSeconds = Math.max(1, deadline - Date.now()) / 1000;
      const answer = await askYtDlp(
        {
          url,
          entry,
          timeoutSeconds,
          proxy: session.proxyUrl,
          flat: true,
          playlistLimit,
          niceness,
          impersonate,
          cookies: replacedCookies,
        },
        deadlineSignal({ deadline: deadline + CANCEL_GRACE_MS, signal }),
      );
      if (answer.ok) {
        const { info, isIncomplete, cookies: reported = [] } = await readAnswer(answer, { client, signal: bounded });
        await cookies?.write(url, reported);
        signal.throwIfAborted();
        return { info, isIncomplete };
      }
      signal.throwIfAborted();
      const isTooLarge = session.bytesReceived() >= maxBytes;
      const error = toError(withProxyCause(answer.error, { isRefused: session.refused(), isTooLarge }), url);
      throw answer.error.isInterrupted ? new Interrupted(undefined, { cause: error }) : error;
    } finally {
      session.close();
    }
  };

  /**
   * One fork per request, shared fairly between clients: one whose pages never end must not occupy all of them. A request
   * whose process is killed is repeated once.
   */
  const extractInTurn = async (request: ExtractRequest): Promise<Extraction> => {
    const bounded = deadlineSignal(request);
    for (let interruptions = 0; ; ) {
      const permit = await forks.acquire(request.client ?? NO_CLIENT, bounded).catch(() => {
        request.signal.throwIfAborted();
        // The request never reached the site.
        throw new UpstreamError('No fork of yt-dlp was free in time', {
          reason: 'service-failed',
          retryAfterSeconds: RETRY_SECONDS,
        });
      });
      try {
        const signal = AbortSignal.any([request.signal, permit.revoked]);
        const niceness = Math.min(MAX_NICENESS, NICENESS_PER_RANK * permit.rank);
        const ranked = { ...request, signal, niceness };
        return await supervisor.use((ask) => extractBy(ask, ranked), deadlineSignal(ranked));
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
      pending += 1;
      try {
        // Before the request queues: the worker starts meanwhile, or the request fails at once.
        await supervisor.start();
        return await extractInTurn(request);
      } finally {
        pending -= 1;
      }
    },
    async warm() {
      const build = tools.ytDlp();
      if (!build) return;
      impersonation?.prepare(build);
      await supervisor.ready();
    },
    renew: supervisor.renew,
    close: supervisor.close,
  };
}

/** @throws UpstreamError when it is no answer of yt-dlp; ParsingLimitExceeded, and the signal's reason */
async function readAnswer(answer: WorkerResponse & { ok: true }, options: ParsingOptions): Promise<ExtractedInfo> {
  if ('info' in answer) return readExtraction(answer);
  return parse(PARSE_EXTRACTION, answer.json, options).catch((error) => {
    throw error instanceof InvalidExtraction ? new UpstreamError('Extraction failed', { cause: error }) : error;
  });
}

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
