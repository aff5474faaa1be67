import { join, resolve } from 'node:path';
import pLimit from 'p-limit';
import type { Download } from '../download.ts';
import { ffmpegAtPath, ffmpegFromNpm, ffmpegFromPypi, ffmpegOfSystem } from '../ffmpeg/ffmpeg-providers.ts';
import type { SmokeTestResult } from '../smoke-test.ts';
import {
  type Activity,
  type Ffmpeg,
  type Log,
  silentLog,
  type ToolProvider,
  type ToolSource,
  type Tools,
  type ToolsChannel,
  type ToolsInPlace,
  type YtDlp,
} from '../tools.ts';
import { ytDlpAtPath, ytDlpFromPypi, ytDlpInFolder, ytDlpOfSystem, ytDlpRelease } from '../yt-dlp/providers.ts';
import { createInstaller } from './installer.ts';
import { createVersionStore, type InstalledVersion, withLock } from './version-store.ts';

export interface ToolsOptions {
  /** Where versions are installed side by side. Several processes may share it. */
  readonly dir: string;
  readonly channel: ToolsChannel;
  /** The operator's own program: no provider is tried, and it is never updated. */
  readonly ytDlpPath?: string | undefined;
  readonly ffmpegPath?: string | undefined;
  /** A read-only folder with an unpacked release of yt-dlp: the first provider. It is not copied. */
  readonly ytDlpDir?: string | undefined;
  /** The guarded HTTP client of core/egress, for downloads by this process. */
  readonly download: Download;
  /** Called for each step, and again as bytes arrive. Not called when everything is installed. */
  readonly onActivity: (activity: Activity) => void;
  /**
   * @param onUnsolvedChallenge called with why a candidate that works does not solve JavaScript challenges
   * @returns how a candidate works; undefined: to be found out when it starts
   * @throws when it works in none; the signal is aborted when the tools are closed
   */
  readonly smokeTest: (
    candidate: YtDlp,
    signal: AbortSignal,
    onUnsolvedChallenge: (reason: string) => void,
  ) => Promise<SmokeTestResult | undefined>;
  /** Checks a yt-dlp that would replace one that works, after its smoke test. @throws Error in one line when it must not */
  readonly checkUpdate?: (candidate: YtDlp, signal: AbortSignal) => Promise<void>;
  /** Stores what is installed, for the rest of the instance. */
  readonly record: (inPlace: ToolsInPlace) => Promise<void>;
  /** Called with one line when an update failed; the current version stays in use. */
  readonly onFailure?: (reason: string) => void;
  /** Called with one line when a tool does not come from its first provider. */
  readonly onNotice?: ((line: string) => void) | undefined;
  /** How often to check what other processes have installed in `dir`. @default never */
  readonly reloadIntervalMs?: number;
  readonly log?: Log;
  /** They are tried in this order. @default release, PyPI, system for yt-dlp; system, npm, PyPI for FFmpeg */
  readonly providers?: {
    readonly ytDlp?: readonly ToolProvider<YtDlp>[];
    readonly ffmpeg?: readonly ToolProvider<Ffmpeg>[];
  };
}

/**
 * yt-dlp and FFmpeg, each from the first provider that has a working version. Calls run one after the other; changes to
 * `dir` are made under a lock that all processes share.
 */
export function createTools(options: ToolsOptions): Tools & { close(): Promise<void> } {
  const { record, log = silentLog, reloadIntervalMs } = options;
  const closing = new AbortController();
  const { signal } = closing;
  // Absolute: programs are started in other working directories.
  const dir = resolve(options.dir);
  const { onActivity, during } = reportOneAtATime(options.onActivity);
  const { ytDlp, ffmpeg } = createInstallers({ ...options, onActivity, dir, log, signal });
  const both = [ffmpeg, ytDlp] as const;
  const lockFile = join(dir, 'install.lock');

  const runLocked = <T>(work: () => Promise<T>): Promise<T> => {
    const onWait = () => options.onActivity({ name: 'Waiting for another process that installs the tools' });
    return withLock(lockFile, work, { signal, onWait });
  };
  const queue = pLimit(1);
  const enqueue = <T>(task: () => Promise<T>): Promise<T> =>
    queue(() => {
      signal.throwIfAborted();
      return task();
    });
  const recordInstalled = async () => {
    const installed = describeInstalled(ytDlp.current(), ffmpeg.current());
    if (installed) await record(installed);
  };

  /** Does not wait for the lock: its holder may be using the staged folders, and cleans up itself. */
  const cleanLeftovers = async () => {
    const clean = () => Promise.all(both.map((installer) => installer.cleanStaged()));
    const onWait = () => {
      throw new Error('The lock is held by another process');
    };
    await withLock(lockFile, clean, { signal, onWait }).catch(() => undefined);
  };

  /** Side by side: each waits for its registry most of the time. A failure of one does not end the other. */
  const installMissing = async () => {
    const installs = both.map((installer) => during(installer.name, installer.installMissing()));
    for (const result of await Promise.allSettled(installs)) if (result.status === 'rejected') throw result.reason;
  };

  const reload = async () => {
    const changes = await Promise.all(both.map((installer) => installer.reload({ isKept: true })));
    if (changes.includes(true)) await recordInstalled();
  };
  const reloadInTurn = () => {
    // A task that is under way reads the folder itself.
    if (queue.activeCount + queue.pendingCount > 0) return;
    enqueue(reload).catch((error) => signal.aborted || log.warn('Failed to reload tools', { error }));
  };
  const timer = reloadIntervalMs === undefined ? undefined : setInterval(reloadInTurn, reloadIntervalMs).unref();

  return {
    ytDlp: () => ytDlp.current()?.tool,
    ffmpeg: () => ffmpeg.current()?.tool,
    ensure: () =>
      enqueue(async () => {
        for (const installer of both) if (!installer.current()) await installer.reload();
        if (both.every((installer) => installer.current())) await cleanLeftovers();
        else await runLocked(installMissing);
        await recordInstalled();
      }),
    update: () =>
      enqueue(async () => {
        const changed = {
          ffmpeg: await during(ffmpeg.name, ffmpeg.update(runLocked)),
          ytDlp: await during(ytDlp.name, ytDlp.update(runLocked)),
        };
        if (changed.ytDlp || changed.ffmpeg) await recordInstalled();
        return changed;
      }),
    async close() {
      closing.abort();
      clearInterval(timer);
      await queue(() => undefined);
    },
  };
}

/** Of tools that are installed at once, reports the activity of the first one until it ends, then that of the next one. */
function reportOneAtATime(report: (activity: Activity) => void) {
  /** The latest of each tool, in the order in which they began. */
  const latest = new Map<string | undefined, Activity | undefined>();
  const isFirst = (tool: string | undefined) => latest.keys().next().value === tool;
  return {
    onActivity(activity: Activity) {
      latest.set(activity.tool, activity);
      if (isFirst(activity.tool)) report(activity);
    },
    async during<T>(tool: string, work: Promise<T>): Promise<T> {
      if (!latest.has(tool)) latest.set(tool, undefined);
      try {
        return await work;
      } finally {
        const wasReported = isFirst(tool);
        latest.delete(tool);
        const [next] = latest.values();
        if (wasReported && next) report(next);
      }
    },
  };
}

/** The installers of both tools. */
function createInstallers(options: ToolsOptions & { readonly log: Log; readonly signal: AbortSignal }) {
  const { dir, channel, download, smokeTest, providers, ytDlpDir, log, signal } = options;
  const { onActivity, onFailure = () => undefined, onNotice = () => undefined } = options;
  const common = { onActivity, onFailure, onNotice, log, signal };
  // Absolute: programs are started in other working directories.
  const ytDlpPath = options.ytDlpPath && resolve(options.ytDlpPath);
  const ffmpegPath = options.ffmpegPath && resolve(options.ffmpegPath);
  const testYtDlp = async (candidate: YtDlp) => {
    const { version } = candidate;
    const { mode, sites } =
      (await smokeTest(candidate, signal, (reason) =>
        log.warn('yt-dlp does not solve the JavaScript challenges of YouTube', { version, reason }),
      )) ?? {};
    if (mode !== 'process-per-link') return sites && { sites };
    log.warn('Warm worker failed, using one yt-dlp process per link', { version });
    return { mode } as const;
  };
  const selectYtDlp = (): readonly ToolProvider<YtDlp>[] => {
    if (ytDlpPath) return [ytDlpAtPath(ytDlpPath)];
    const selected = providers?.ytDlp ?? [
      ytDlpRelease({ download, channel }),
      ytDlpFromPypi({ channel }),
      ytDlpOfSystem(),
    ];
    return ytDlpDir ? [ytDlpInFolder(ytDlpDir), ...selected] : selected;
  };
  const ytDlp = createInstaller<YtDlp>({
    name: 'yt-dlp',
    store: createVersionStore(join(dir, 'yt-dlp'), ({ command }) => command),
    providers: selectYtDlp(),
    isAllowed: ({ source, command }) => (ytDlpPath ? command.includes(ytDlpPath) : source !== 'path'),
    smokeTest: testYtDlp,
    checkUpdate: options.checkUpdate,
    ...common,
  });
  // Without a smoke test: each provider of FFmpeg has encoded and muxed with it.
  const ffmpeg = createInstaller<Ffmpeg>({
    name: 'FFmpeg',
    store: createVersionStore(join(dir, 'ffmpeg'), ({ path }) => [path]),
    providers: ffmpegPath
      ? [ffmpegAtPath(ffmpegPath)]
      : (providers?.ffmpeg ?? [ffmpegOfSystem(), ffmpegFromNpm({ download }), ffmpegFromPypi()]),
    isAllowed: ({ path, source }) => (ffmpegPath ? path === ffmpegPath : source !== 'path'),
    ...common,
  });
  return { ytDlp, ffmpeg };
}

/** How the tools of each source are verified. */
const VERIFIED_BY: Readonly<Record<ToolSource, string>> = {
  path: 'path',
  release: 'signature',
  pypi: 'registry',
  system: 'system',
  npm: 'checksum',
};

/** The record of both tools; undefined while one is missing. */
function describeInstalled(
  ytDlp: InstalledVersion<YtDlp> | undefined,
  ffmpeg: InstalledVersion<Ffmpeg> | undefined,
): ToolsInPlace | undefined {
  if (!ytDlp || !ffmpeg) return undefined;
  return {
    ytDlp: ytDlp.tool.version,
    ffmpeg: ffmpeg.tool.version,
    verifiedBy: { ytDlp: VERIFIED_BY[ytDlp.tool.source], ffmpeg: VERIFIED_BY[ffmpeg.tool.source] },
    installedAt: Math.max(ytDlp.installedAt, ffmpeg.installedAt),
    ...(ytDlp.tool.sites && { sites: ytDlp.tool.sites }),
  };
}
