import { getRetryDelay } from '../../concurrency/index.ts';
import { InMaintenance, UpstreamError } from '../../errors/index.ts';
import { describeError, type Log } from '../../log/index.ts';
import type { startYtDlp, Tools, WorkerOptions, WorkerProcess, YtDlp, YtDlpMode } from '../../tools/index.ts';

export interface WorkerSupervisorOptions
  extends Pick<
    WorkerOptions,
    'concurrency' | 'memoryBytes' | 'cookiesFile' | 'cookiesDir' | 'extraCaFile' | 'extractorArgs' | 'pluginDirs'
  > {
  readonly tools: Pick<Tools, 'ytDlp'>;
  readonly startWorker: typeof startYtDlp;
  /** Ends the worker after this many milliseconds without a task; the next task starts another. @default never */
  readonly idleMs?: number | undefined;
  /** Called with each change of the mode of yt-dlp, and at its start. */
  readonly onYtDlpMode?: ((mode: YtDlpMode) => void) | undefined;
  readonly log: Log;
}

/**
 * Keeps one yt-dlp worker running: restarts it after a crash, with exponential backoff, and replaces it when another
 * version of yt-dlp is installed, while the old worker still answers its open requests.
 */
export interface WorkerSupervisor {
  /**
   * Starts the worker in the background unless it runs already.
   * @throws InMaintenance while yt-dlp is not installed; UpstreamError during backoff and after `close`
   */
  start(): void;
  /**
   * Runs `task` with the current worker, which is not closed before the task has settled.
   * @throws as `start`
   */
  use<T>(task: (worker: Promise<WorkerProcess>) => Promise<T>): Promise<T>;
  /** To be called for each answer of a worker: ends the backoff. */
  confirmAlive(): void;
  /** Waits until the worker runs, if yt-dlp is installed. @throws as `start`; UpstreamError when it fails to start */
  warm(): Promise<void>;
  close(): Promise<void>;
}

/** One running worker, and the tasks that use it. */
interface Running {
  readonly ytDlp: YtDlp;
  readonly process: Promise<WorkerProcess>;
  tasks: number;
  isReplaced: boolean;
  idleTimer?: NodeJS.Timeout;
}

/** Query strings may hold secrets. */
const QUERY = /\?\S+/g;
/** Extractors run JavaScript of sites by this Node. */
const JS_RUNTIME = `node ${process.versions.node}`;
const BACKOFF = { initialDelayMs: 500, maxDelayMs: 30_000 };

export function createWorkerSupervisor(options: WorkerSupervisorOptions): WorkerSupervisor {
  const {
    tools,
    log,
    concurrency,
    memoryBytes,
    cookiesFile,
    cookiesDir,
    extraCaFile,
    extractorArgs,
    pluginDirs,
    onYtDlpMode,
    idleMs,
  } = options;
  const closing = new AbortController();
  const alive = new Set<Running>();
  let current: Running | undefined;
  let failures = 0;
  let nextStartAt = 0;

  const launch = (ytDlp: YtDlp): Running => {
    if (Date.now() < nextStartAt)
      throw new UpstreamError('yt-dlp does not start: waiting before the next attempt', { reason: 'service-failed' });
    const started = options.startWorker({
      ytDlp,
      concurrency,
      memoryBytes,
      cookiesFile,
      cookiesDir,
      extraCaFile,
      extractorArgs,
      pluginDirs,
      signal: closing.signal,
      onMode: (mode, reason) => {
        const { version } = ytDlp;
        if (mode === 'worker') log.info('yt-dlp runs as a warm worker', { version, jsRuntime: JS_RUNTIME });
        else
          log.warn('yt-dlp runs as one process per link', {
            version,
            jsRuntime: JS_RUNTIME,
            reason: reason?.replaceAll(QUERY, '?…'),
          });
        onYtDlpMode?.(mode);
      },
      onStderr: (line) => log.warn('yt-dlp stderr', { line: line.replaceAll(QUERY, '?…') }),
    });
    const process = started.catch((cause) => {
      throw new UpstreamError('yt-dlp failed to start', { cause, reason: 'service-failed' });
    });
    const running: Running = { ytDlp, process, tasks: 0, isReplaced: false };
    alive.add(running);
    process.then(
      (worker) => worker.ended.then(() => onExit(running)),
      (error) => onStartFailure(running, error),
    );
    return running;
  };

  const onExit = (running: Running) => {
    alive.delete(running);
    if (current !== running) return;
    current = undefined;
    if (closing.signal.aborted) return;
    log.error('yt-dlp worker exited', { version: running.ytDlp.version });
    restart();
  };

  /** A worker that fails repeatedly without an answer is not restarted until the next request. */
  const restart = () => {
    failures += 1;
    if (failures > 1) backOff();
    else if (idleMs === undefined) warm().catch(() => undefined); // logged by onStartFailure
  };

  const onStartFailure = (running: Running, error: unknown) => {
    alive.delete(running);
    if (closing.signal.aborted) return;
    log.error('yt-dlp worker failed to start', { version: running.ytDlp.version, error: describeError(error) });
    if (current !== running) return;
    current = undefined;
    restart();
  };

  const backOff = () => {
    nextStartAt = Date.now() + getRetryDelay(failures, BACKOFF);
  };

  /** The worker of the installed yt-dlp. */
  const getCurrent = (): Running => {
    const ytDlp = tools.ytDlp();
    if (closing.signal.aborted) throw new UpstreamError('The resolver is closed', { reason: 'service-failed' });
    if (!ytDlp) throw new InMaintenance('Fetching yt-dlp');
    if (current && isSameBuild(current.ytDlp, ytDlp)) return current;
    const previous = current;
    if (previous) nextStartAt = 0;
    current = launch(ytDlp);
    if (previous) replace(previous);
    return current;
  };

  const replace = (running: Running) => {
    running.isReplaced = true;
    if (running.tasks === 0) end(running);
  };

  const end = (running: Running) => {
    clearTimeout(running.idleTimer);
    return running.process.then(
      (worker) => worker.close(),
      () => undefined, // it never started, which was logged
    );
  };

  const endWhenIdle = (running: Running) => {
    if (idleMs === undefined || running !== current) return;
    running.idleTimer = setTimeout(() => {
      if (running !== current) return;
      current = undefined;
      replace(running);
    }, idleMs).unref();
  };

  const warm = async () => {
    if (!tools.ytDlp()) return;
    // After a first failure, the next attempt is under way already.
    await getCurrent().process.catch(() => getCurrent().process);
  };

  return {
    start: () => void getCurrent(),
    async use(task) {
      const running = getCurrent();
      running.tasks += 1;
      clearTimeout(running.idleTimer);
      try {
        return await task(running.process);
      } finally {
        running.tasks -= 1;
        if (running.tasks === 0) {
          if (running.isReplaced) end(running);
          else endWhenIdle(running);
        }
      }
    },
    confirmAlive() {
      failures = 0;
    },
    warm,
    async close() {
      closing.abort();
      current = undefined;
      await Promise.all(Array.from(alive, end));
    },
  };
}

const isSameBuild = (a: YtDlp, b: YtDlp): boolean =>
  a.version === b.version && a.command.join('\0') === b.command.join('\0');
