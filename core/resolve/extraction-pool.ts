import { abortable, createSemaphore, type Deadline, deadlineSignal, type Permit } from '@reelay/concurrency';
import type { ProxySession } from '@reelay/guarded-fetch';
import {
  createSupervisor,
  type SupervisorOptions,
  type WorkerFailure,
  type WorkerResponse,
} from '@reelay/yt-dlp-worker';
import { memoryShares, type Settings } from '../config/index.ts';
import type { Egress } from '../egress/index.ts';
import { CapacityExceeded, NotDeliverable, NotFound, UpstreamError } from '../errors/index.ts';
import {
  type ExtractedInfo,
  type Info,
  InvalidExtraction,
  PARSE_EXTRACTION,
  type ParsingOptions,
  parse,
  readExtraction,
} from '../parsing/index.ts';
import { type ClientFallbackOptions, createClientFallback } from './client-fallback.ts';
import { createImpersonation, createOperatorCookies, toError } from './yt-dlp/index.ts';

/** One link for yt-dlp. */
interface ExtractionRequest extends Deadline {
  readonly url: string;
  /** For an entry of a list, the list's metadata of it: yt-dlp merges it into its response. */
  readonly entry?: Info;
  /** Entries of a list to leave out at its beginning. @default 0 */
  readonly offset?: number;
  /** The outgoing identity to send requests through. */
  readonly identity: string;
}

interface ClientRequest extends ExtractionRequest {
  readonly playerClient?: string;
}

/** What yt-dlp has extracted from a link. `isIncomplete`: a request took too long, another attempt may find more. */
export interface Extraction extends Omit<ExtractedInfo, 'cookies'> {
  /** The outgoing identity of its requests: URLs may be bound to that address. */
  readonly identity: string;
}

/** Forks of a warm yt-dlp, one per link. */
export interface ExtractionPool {
  /**
   * Extracts the metadata and formats of a link in a fork. Clients get a fair share of the forks: one whose pages never end
   * must not occupy all of them. A request whose process is killed is repeated once.
   * @throws what `toError` makes of yt-dlp's failure; InMaintenance while yt-dlp is not installed; CapacityExceeded
   *   when the queue is full; TimeoutError (DOMException) at the deadline; the signal's reason once it is aborted
   */
  extract(request: ExtractionRequest): Promise<Extraction>;
  /** Starts yt-dlp ahead of the first request, if it is installed. @throws when it does not start */
  warm(): Promise<void>;
  /** Gives further links the options and cookies as they are now. */
  renew(): void;
  close(): Promise<void>;
}

export interface ExtractionPoolOptions
  extends Omit<SupervisorOptions, 'extractorArgs' | 'memoryBytes'>,
    Omit<ClientFallbackOptions, 'log'>,
    Partial<Pick<Settings, 'cookiesWriteBack' | 'impersonate' | 'ytDlpPlugins'>> {
  readonly egress: Pick<Egress, 'openProxySession'>;
  /** Entries of a playlist listed at most. */
  readonly playlistLimit: number;
  /** Requests that may wait for a fork. */
  readonly queueLimit: number;
  /** Bytes of address space that one request may take. @default 1 GiB, less in little memory */
  readonly memoryBytes?: number;
  /** Bytes that one request may download in all. @default 64 MiB */
  readonly maxBytes?: number;
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

export function createExtractionPool(options: ExtractionPoolOptions): ExtractionPool {
  const { tools, egress, log, concurrency, playlistLimit, queueLimit, impersonate: rules = [] } = options;
  const { maxBytes = 2 ** 26, pluginDirs = [], ytDlpPlugins } = options;
  const supervisor = createSupervisor({
    ...options,
    memoryBytes: options.memoryBytes ?? memoryShares().forkBytes,
    extractorArgs: options.ytDlpExtractorArgs,
    pluginDirs: ytDlpPlugins === undefined ? pluginDirs : [...pluginDirs, ytDlpPlugins],
  });
  const impersonation = createImpersonation(rules, log);
  const cookies = options.cookiesWriteBack ? createOperatorCookies(options, log) : undefined;
  const permits = createSemaphore({
    permits: concurrency,
    maxPerClient: Math.max(1, concurrency - 1),
    revokeAfterMs: REVOKE_AFTER_MS,
  });
  let pending = 0;

  const extractOnce = async (request: ClientRequest, { rank, revoked }: Permit): Promise<Extraction> => {
    const { url, entry, offset, identity, playerClient, deadline, client } = request;
    const signal = AbortSignal.any([request.signal, revoked]);
    const bounded = deadlineSignal({ deadline, signal });
    await abortable(supervisor.ready(), bounded);
    const build = impersonation && tools.ytDlp();
    const impersonate = build && (await abortable(impersonation.targetFor(url, build), bounded));
    const replacedCookies = await cookies?.replaced();
    const session = await egress.openProxySession({ identity, maxBytes });
    try {
      const answer = await supervisor.request(
        {
          url,
          entry,
          timeoutSeconds: Math.max(1, deadline - Date.now()) / 1000,
          proxy: session.proxyUrl,
          identity,
          flat: true,
          playlistLimit,
          ...(offset && { playlistOffset: offset }),
          niceness: Math.min(MAX_NICENESS, NICENESS_PER_RANK * rank),
          impersonate,
          playerClient,
          cookies: replacedCookies,
        },
        deadlineSignal({ deadline: deadline + CANCEL_GRACE_MS, signal }),
      );
      if (answer.ok) {
        const { info, isIncomplete, cookies: reported = [] } = await readAnswer(answer, { client, signal: bounded });
        await cookies?.write(url, reported);
        signal.throwIfAborted();
        return { info, isIncomplete, identity };
      }
      signal.throwIfAborted();
      const error = toError(withProxyCause(answer.error, session, maxBytes), url);
      throw answer.error.isInterrupted ? new Interrupted(undefined, { cause: error }) : error;
    } finally {
      session.close();
    }
  };

  const acquire = async (request: ExtractionRequest): Promise<Permit> => {
    try {
      return await permits.acquire(request.client ?? NO_CLIENT, deadlineSignal(request));
    } catch {
      request.signal.throwIfAborted();
      // The request never reached the site.
      throw new UpstreamError('No yt-dlp fork became free before the deadline', {
        reason: 'service-failed',
        retryAfterSeconds: RETRY_SECONDS,
      });
    }
  };

  const extract = async (request: ClientRequest): Promise<Extraction> => {
    if (pending >= concurrency + queueLimit) throw new CapacityExceeded('Too many links wait for yt-dlp');
    pending += 1;
    try {
      // Before the request queues: the worker starts meanwhile, or the request fails at once.
      await supervisor.start();
      for (let interruptions = 0; ; ) {
        const permit = await acquire(request);
        try {
          return await extractOnce(request, permit);
        } catch (error) {
          if (permit.revoked.aborted) continue;
          if (!(error instanceof Interrupted)) throw error;
          interruptions += 1;
          if (interruptions > MAX_INTERRUPTIONS) throw error.cause;
        } finally {
          permit.release();
        }
      }
    } finally {
      pending -= 1;
    }
  };

  return {
    extract: createClientFallback(extract, options),
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
function withProxyCause(failure: WorkerFailure, session: ProxySession, maxBytes: number): WorkerFailure {
  if (session.bytesReceived() >= maxBytes) return { ...failure, kind: 'too_large' };
  return session.isRefused() && ['proxy', 'network', 'http'].includes(failure.kind)
    ? { ...failure, kind: 'egress_refused' }
    : failure;
}

/** The part of the egress that chooses outgoing addresses. */
export type OutgoingAddresses = Pick<Egress, 'nextIdentity' | 'otherIdentity' | 'reportBlocked' | 'reportServed'>;

/**
 * Extracts the metadata and formats of a link through whichever outgoing address its site serves, beginning with `preferred`.
 * @throws as `ExtractionPool.extract`
 */
export type ExtractLink = (
  request: Omit<ExtractionRequest, 'identity'> & { readonly preferred?: string },
) => Promise<Extraction>;

/** Failures that may concern the outgoing address, weakest evidence first. */
const BLOCK_REASONS = ['refused', 'region', 'rate-limited', 'bot-check'] as const;
type BlockReason = (typeof BLOCK_REASONS)[number];

/** These failures concern the address. The others may concern the link, so that fewer addresses are tried. */
const ADDRESS_BLOCKS: readonly BlockReason[] = ['rate-limited', 'bot-check'];
/** Addresses for one link at most: each takes a turn of yt-dlp, at the cost of the client. Later links try the others. */
const MAX_ADDRESSES = 8;
const MAX_ADDRESSES_AFTER_REFUSALS = 3;
/** With less time than this left, no further attempt is made. */
const MIN_ATTEMPT_MS = 1_000;

/**
 * Extracts links by one outgoing address after the other while the site blocks them, within the deadline of the request.
 * What several addresses failed with becomes one failure: what the site says of the link itself, else the most telling block.
 */
export const createAddressRotation =
  (pool: Pick<ExtractionPool, 'extract'>, egress: OutgoingAddresses): ExtractLink =>
  async ({ preferred, ...request }) => {
    const { url, deadline, signal } = request;
    const tried = new Set<string>();
    const refused: string[] = [];
    let strongest: { readonly reason: BlockReason; readonly error: unknown } | undefined;
    let next: string | undefined = egress.nextIdentity(url, preferred);

    while (next !== undefined) {
      const identity = next;
      tried.add(identity);
      try {
        const extraction = await pool.extract({ ...request, identity });
        egress.reportServed(url, identity);
        // Success proves that earlier refusals concerned the address.
        for (const other of refused) egress.reportBlocked(url, other);
        return extraction;
      } catch (error) {
        const reason = blockReasonOf(error);
        const isOfLink = !reason && (error instanceof NotFound || error instanceof NotDeliverable);
        if (signal.aborted || isOfLink || (!reason && !strongest)) throw error;
        if (reason && ADDRESS_BLOCKS.includes(reason)) egress.reportBlocked(url, identity, retryAfterOf(error));
        else if (reason === 'refused') refused.push(identity);
        const isStronger =
          reason && (!strongest || BLOCK_REASONS.indexOf(reason) >= BLOCK_REASONS.indexOf(strongest.reason));
        if (isStronger) strongest = { reason, error };
      }
      const isOfAddress = strongest !== undefined && ADDRESS_BLOCKS.includes(strongest.reason);
      const isLast =
        tried.size >= (isOfAddress ? MAX_ADDRESSES : MAX_ADDRESSES_AFTER_REFUSALS) ||
        deadline - Date.now() < MIN_ATTEMPT_MS;
      next = isLast ? undefined : egress.otherIdentity(url, tried);
    }
    throw strongest?.error;
  };

function blockReasonOf(error: unknown): BlockReason | undefined {
  const reason = error instanceof NotDeliverable || error instanceof UpstreamError ? error.reason : undefined;
  return BLOCK_REASONS.find((each) => each === reason);
}

const retryAfterOf = (error: unknown): number | undefined =>
  error instanceof UpstreamError ? error.retryAfterSeconds : undefined;
