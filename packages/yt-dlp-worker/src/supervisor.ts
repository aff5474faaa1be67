import { abortable, getRetryDelay } from '@reelay/concurrency';
import { messageOf, UpstreamError } from '@reelay/guarded-fetch/errors';
import { missingFrom } from './process/sandbox.ts';
import type { Log, Tools, YtDlp, YtDlpMode } from './tools.ts';
import { startLinkProcesses } from './worker/link-processes.ts';
import { startWorker, WorkerKilled, type WorkerOptions, type WorkerProcess } from './worker/worker-process.ts';
import type { WorkerRequest, WorkerResponse } from './worker/worker-protocol.ts';
import { readYtDlpVersion } from './yt-dlp/query-yt-dlp.ts';

/** The yt-dlp that is in place. */
export interface InstalledYtDlp extends Pick<Tools, 'ytDlp'> {
  /** Waits for the check of what is installed. @throws InMaintenance while yt-dlp is fetched, with the activity of App */
  readonly inPlace?: () => Promise<void>;
}

export interface SupervisorOptions extends Omit<WorkerOptions, 'ytDlp' | 'signal' | 'onStderr'> {
  readonly tools: InstalledYtDlp;
  /** @default startYtDlp */
  readonly start?: typeof startYtDlp | undefined;
  /** Called with the mode that requests use from now on. */
  readonly onYtDlpMode?: ((mode: YtDlpMode) => void) | undefined;
  readonly log: Log;
}

/**
 * Keeps yt-dlp running, as one warm worker that forks for each request. It restarts a worker that exits, with exponential
 * backoff, and replaces it when another version of yt-dlp is installed, while the old one answers its open requests.
 *
 * Requests go to processes of their own instead when the smoke test of the version passed in that mode only, or when the
 * worker does not start.
 */
export interface Supervisor {
  /**
   * Starts yt-dlp in the background unless it runs already, once the check of what is installed is done.
   * @throws as `inPlace`; UpstreamError while yt-dlp is not installed, during backoff and after `close`
   */
  start(): Promise<void>;
  /** Replaces yt-dlp by another start of it, which reads its options anew. The former one answers its open requests. */
  renew(): void;
  /** Waits until yt-dlp takes requests. @throws as `start`; UpstreamError when it fails to start twice */
  ready(): Promise<void>;
  /**
   * Sends a request once yt-dlp takes it. What answers it is not replaced before it has.
   * @param signal as that of `WorkerProcess.request`
   * @throws as `ready`; the signal's reason when it is aborted before that
   */
  request(request: Omit<WorkerRequest, 'id'>, signal: AbortSignal): Promise<WorkerResponse>;
  close(): Promise<void>;
}

/** One build of yt-dlp that runs, or starts. */
interface Build {
  readonly ytDlp: YtDlp;
  /** Rejects with UpstreamError when it runs in neither mode. */
  started: Promise<void>;
  /** What answers requests. Undefined until `started`. */
  process?: WorkerProcess;
  /** Those that are open. */
  requests: number;
  isReplaced: boolean;
}

/** Query strings are not logged, because they may hold secrets. */
const QUERY = /\?\S+/g;
/** Extractors run JavaScript of sites by this Node. */
const JS_RUNTIME = `node ${process.versions.node}`;
const BACKOFF = { initialDelayMs: 500, maxDelayMs: 30_000 };

/** Starts yt-dlp in one mode. @throws WorkerKilled; Error in one line */
export const startYtDlp = (mode: YtDlpMode, options: WorkerOptions): Promise<WorkerProcess> =>
  mode === 'worker' ? startWorker(options) : startLinkProcesses(options);

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { tools, log, onYtDlpMode, start = startYtDlp } = options;
  const closing = new AbortController();
  const running = new Set<Build>();
  let current: Build | undefined;
  let failures = 0;
  let nextStartAt = 0;

  const startIn = (mode: YtDlpMode, ytDlp: YtDlp): Promise<WorkerProcess> => {
    const onStderr = (line: string) => log.warn('yt-dlp stderr', { line: line.replaceAll(QUERY, '?…') });
    return start(mode, { ...options, ytDlp, signal: closing.signal, onStderr });
  };

  /** @param reason why the worker is not used */
  const startBuild = async (build: Build, mode: YtDlpMode, reason?: string) => {
    const process = await startIn(mode, build.ytDlp);
    build.process = process;
    void process.ended.then(() => onExit(build));
    const fields = { version: build.ytDlp.version, jsRuntime: JS_RUNTIME };
    if (reason === undefined) log.info('yt-dlp runs as a warm worker', fields);
    else log.warn('yt-dlp runs as one process per link', { ...fields, reason: reason.replaceAll(QUERY, '?…') });
    const missing = process.sandbox ? missingFrom('yt-dlp', process.sandbox) : [];
    if (missing.length > 0) log.warn(missing.join('; '));
    onYtDlpMode?.(mode);
  };

  const startFirst = async (build: Build) => {
    const { ytDlp } = build;
    if (ytDlp.mode) return startBuild(build, ytDlp.mode, 'the smoke test of this version passed in this mode only');
    try {
      await startBuild(build, 'worker');
    } catch (error) {
      closing.signal.throwIfAborted();
      if (error instanceof WorkerKilled) throw error;
      await readYtDlpVersion(ytDlp, { signal: closing.signal }).catch(() => {
        throw error;
      });
      await startBuild(build, 'process-per-link', messageOf(error));
    }
  };

  const launch = (ytDlp: YtDlp): Build => {
    if (Date.now() < nextStartAt)
      throw new UpstreamError('yt-dlp does not start: waiting before the next attempt', { reason: 'service-failed' });
    const build: Build = { ytDlp, started: Promise.resolve(), requests: 0, isReplaced: false };
    running.add(build);
    current = build;
    build.started = startFirst(build).catch((cause) => {
      running.delete(build);
      if (!closing.signal.aborted)
        log.error('yt-dlp worker failed to start', {
          version: ytDlp.version,
          error: messageOf(cause).replaceAll(QUERY, '?…'),
        });
      restart(build);
      throw new UpstreamError('yt-dlp failed to start', { cause, reason: 'service-failed' });
    });
    build.started.then(
      () => endIfReplaced(build),
      () => undefined, // logged above
    );
    return build;
  };

  const onExit = (build: Build) => {
    if (current !== build) return;
    log.error('yt-dlp worker exited', { version: build.ytDlp.version });
    void stopBuild(build);
    restart(build);
  };

  /** A build that fails repeatedly without an answer is not started again until the next request. */
  const restart = (failed: Build) => {
    if (current !== failed || closing.signal.aborted) return;
    current = undefined;
    failures += 1;
    if (failures > 1) nextStartAt = Date.now() + getRetryDelay(failures, BACKOFF);
    else if (tools.ytDlp()) getCurrent();
  };

  /** The installed build. */
  const getCurrent = (): Build => {
    const ytDlp = tools.ytDlp();
    if (closing.signal.aborted) throw new UpstreamError('The resolver is closed', { reason: 'service-failed' });
    if (!ytDlp) throw new UpstreamError('yt-dlp is not installed', { reason: 'service-failed' });
    if (current && isSameBuild(current.ytDlp, ytDlp)) return current;
    const previous = current;
    if (previous) nextStartAt = 0;
    const next = launch(ytDlp);
    if (previous) replace(previous);
    return next;
  };

  const replace = (build: Build) => {
    build.isReplaced = true;
    endIfReplaced(build);
  };

  const stopBuild = async (build: Build) => {
    build.isReplaced = true;
    await build.started.catch(() => undefined);
    await build.process?.close();
    running.delete(build);
  };

  const endIfReplaced = (build: Build) => {
    if (build.isReplaced && build.requests === 0) void stopBuild(build);
  };

  const begin = async () => {
    if (!tools.ytDlp()) await tools.inPlace?.();
    getCurrent();
  };

  const ready = async () => {
    await begin();
    // After a first failure, the next attempt is under way already.
    await getCurrent().started.catch(() => getCurrent().started);
  };

  return {
    start: begin,
    renew() {
      const previous = current;
      if (!previous) return;
      current = undefined;
      replace(previous);
    },
    ready,
    async request(request, signal) {
      await abortable(ready(), signal);
      const build = getCurrent();
      build.requests += 1;
      try {
        await abortable(build.started, signal);
        const process = build.process as WorkerProcess;
        const response = await process.request(request, signal);
        if (response.ok || response.error.kind !== 'crash') failures = 0;
        // So that the next request does not get the same worker.
        else if (process.hasEnded()) await process.ended;
        return response;
      } finally {
        build.requests -= 1;
        endIfReplaced(build);
      }
    },
    async close() {
      closing.abort();
      current = undefined;
      await Promise.all(Array.from(running, stopBuild));
    },
  };
}

const isSameBuild = (a: YtDlp, b: YtDlp): boolean =>
  a.version === b.version && a.command.join('\0') === b.command.join('\0');
