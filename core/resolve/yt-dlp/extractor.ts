import type { Tools, YtDlp } from '../../../layers/tools/index.ts';
import type { startWorker, WorkerFailure, WorkerOptions, WorkerProcess } from '../../../layers/tools/worker/index.ts';
import { problems } from '../../api/index.ts';
import { abortable, createFairSemaphore, type Deadline, deadlineSignal } from '../../concurrency/index.ts';
import type { Egress } from '../../egress/index.ts';
import type { Log } from '../../log/index.ts';
import { toFailure } from './failures.ts';
import type { Info } from './yt-dlp-info.ts';

/** One question to yt-dlp. */
export interface ExtractRequest extends Deadline {
  readonly url: string;
  /** An entry of a list, to keep what the list said of it. */
  readonly entry?: Info;
  /** The outgoing identity to ask through. */
  readonly identity: string;
}

/** yt-dlp, kept warm. */
export interface Extractor {
  /** @throws Problem as `failures.ts` says; 503 while yt-dlp is not there or too many ask at once */
  extract(question: ExtractRequest): Promise<Info>;
  /** Starts yt-dlp ahead of the first question. */
  warm(): Promise<void>;
  close(): Promise<void>;
}

export interface ExtractorOptions
  extends Pick<WorkerOptions, 'concurrency' | 'memoryBytes' | 'cookiesFile' | 'pluginDirs'> {
  readonly tools: Pick<Tools, 'ytDlp'>;
  readonly start: typeof startWorker;
  readonly egress: Pick<Egress, 'openProxySession'>;
  /** Entries of a playlist listed at most. */
  readonly playlistLimit: number;
  /** Questions that may wait for a fork. */
  readonly queueLimit: number;
  /** Bytes that one question may bring in, all its requests together. */
  readonly maxBytes: number;
  readonly log: Log;
}

/** One running yt-dlp, and how many questions it still has to answer. */
interface Running {
  readonly ytDlp: YtDlp;
  readonly process: Promise<WorkerProcess>;
  asked: number;
  retired: boolean;
}

/** What may be a secret in a URL that yt-dlp writes of. */
const QUERY = /\?\S+/g;
/** Milliseconds before a worker that does not start is tried again, doubled each time up to the bound. */
const FIRST_BACKOFF = 500;
const LONGEST_BACKOFF = 30_000;
/** Milliseconds that a worker has to end a fork by itself at the deadline before its answer is no longer awaited. */
const GRACE = 500;
/** Milliseconds that a link waits before one of a site with more than half of the forks has to start again. */
const PATIENCE = 1_000;

/**
 * Keeps one worker warm: starts it again after a crash, and changes to a newer yt-dlp as soon as there is one, while the
 * old one still answers what it was asked.
 */
export function createExtractor(options: ExtractorOptions): Extractor {
  const { tools, start, egress, playlistLimit, queueLimit, maxBytes, log } = options;
  const { concurrency, memoryBytes, cookiesFile, pluginDirs } = options;
  const closing = new AbortController();
  const turns = createFairSemaphore({ permits: concurrency, revokeAfterMs: PATIENCE });
  const alive = new Set<Running>();
  let current: Running | undefined;
  let failures = 0;
  let notBefore = 0;
  let asking = 0;

  const launch = (ytDlp: YtDlp): Running => {
    if (Date.now() < notBefore) throw problems.fetchFailed(new Error('The resolver does not start'));
    const settings = {
      ytDlp,
      concurrency,
      memoryBytes,
      signal: closing.signal,
      ...(cookiesFile && { cookiesFile }),
      ...(pluginDirs && { pluginDirs }),
    };
    const running: Running = {
      ytDlp,
      process: start({
        ...settings,
        onStderr: (line) => log.warn('yt-dlp says', { line: line.replaceAll(QUERY, '?…') }),
      }),
      asked: 0,
      retired: false,
    };
    alive.add(running);
    running.process.then(
      (worker) => worker.ended.then(() => onEnd(running)),
      (error) => onStartFailure(running, error),
    );
    return running;
  };

  const onEnd = (running: Running) => {
    alive.delete(running);
    if (current !== running) return;
    current = undefined;
    if (closing.signal.aborted) return;
    log.error('The resolver ended', { version: running.ytDlp.version });
    // One that dies before it answers anything, again and again, is not started for its own sake.
    failures += 1;
    if (failures > 1) backOff();
    else warm().catch(() => undefined); // onStartFailure tells of it
  };

  const onStartFailure = (running: Running, error: unknown) => {
    alive.delete(running);
    if (current === running) current = undefined;
    if (closing.signal.aborted) return;
    failures += 1;
    backOff();
    log.error('The resolver does not start', { version: running.ytDlp.version, error: String(error) });
  };

  const backOff = () => {
    notBefore = Date.now() + Math.min(FIRST_BACKOFF * 2 ** (failures - 1), LONGEST_BACKOFF);
  };

  /** The worker of the yt-dlp that is in place now. */
  const inPlace = (): Running => {
    const ytDlp = tools.ytDlp();
    if (closing.signal.aborted) throw problems.fetchFailed(new Error('The resolver is closed'));
    if (!ytDlp) throw problems.maintenance('Fetching yt-dlp');
    if (current && isSame(current.ytDlp, ytDlp)) return current;
    const previous = current;
    notBefore = previous ? 0 : notBefore;
    current = launch(ytDlp);
    if (previous) retire(previous);
    return current;
  };

  const retire = (running: Running) => {
    running.retired = true;
    if (running.asked === 0) end(running);
  };

  const end = (running: Running) =>
    running.process.then(
      (worker) => worker.close(),
      () => undefined, // it never started, which has been told
    );

  const warm = async () => {
    if (tools.ytDlp()) await inPlace().process;
  };

  const askWorker = async (running: Running, { url, entry, identity, deadline, signal }: ExtractRequest) => {
    const worker = await timely(abortable(running.process, deadlineSignal({ deadline, signal })), signal);
    const lease = await egress.openProxySession({ identity, maxBytes });
    try {
      const left = Math.max(1, deadline - Date.now());
      const answer = await worker.request(
        { url, timeout: left / 1000, proxy: lease.proxyUrl, flat: true, playlistLimit, ...(entry && { entry }) },
        deadlineSignal({ deadline: deadline + GRACE, signal }),
      );
      signal.throwIfAborted();
      if (answer.ok || answer.error.kind !== 'crash') failures = 0;
      if (answer.ok) return answer.info;
      throw toFailure(explained(answer.error, lease.refused(), lease.bytesReceived() >= maxBytes));
    } finally {
      lease.close();
    }
  };

  const askOne = async (running: Running, question: ExtractRequest) => {
    running.asked += 1;
    try {
      return await askWorker(running, question);
    } finally {
      running.asked -= 1;
      if (running.retired && running.asked === 0) end(running);
    }
  };

  /** One fork for each question, the sites in their turns: one whose pages never end must not hold all of them. */
  const askInTurn = async (question: ExtractRequest) => {
    const { signal } = question;
    for (;;) {
      const turn = await timely(turns.acquire(new URL(question.url).hostname, deadlineSignal(question)), signal);
      try {
        return await askOne(inPlace(), { ...question, signal: AbortSignal.any([signal, turn.revoked]) });
      } catch (error) {
        if (!turn.revoked.aborted) throw error;
      } finally {
        turn.release();
      }
    }
  };

  return {
    async extract(question) {
      if (asking >= concurrency + queueLimit) throw problems.noCapacity();
      inPlace(); // starts meanwhile, or says at once why it cannot
      asking += 1;
      try {
        return await askInTurn(question);
      } finally {
        asking -= 1;
      }
    },
    warm,
    async close() {
      closing.abort();
      current = undefined;
      await Promise.all(Array.from(alive, end));
    },
  };
}

/** What is not there by the deadline is a failed fetch; who has left is told so. */
const timely = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  work.catch((cause) => {
    signal.throwIfAborted();
    throw problems.fetchFailed(cause);
  });

/** The proxy knows why it cut a connection; yt-dlp only sees that it was cut. */
function explained(failure: WorkerFailure, refused: boolean, isTooLarge: boolean): WorkerFailure {
  if (isTooLarge) return { ...failure, kind: 'too_large' };
  return refused && ['proxy', 'network', 'http'].includes(failure.kind)
    ? { ...failure, kind: 'egress_refused' }
    : failure;
}

const isSame = (a: YtDlp, b: YtDlp): boolean =>
  a.version === b.version && a.command.join('\0') === b.command.join('\0');
