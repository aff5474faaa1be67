import { join, resolve } from 'node:path';
import pLimit from 'p-limit';
import { silentLog } from '../../log/index.ts';
import type { Ffmpeg, ToolSource, Tools, ToolsInPlace, YtDlp } from '../tools.ts';
import { compareVersions } from '../versions.ts';
import { createInstallers } from './create-installers.ts';
import { type Installer, reasonOf } from './installer.ts';
import { withLock } from './lock.ts';
import type { ToolsOptions } from './tools-options.ts';
import type { InstalledVersion } from './version-store.ts';

/**
 * yt-dlp and FFmpeg, each from the first provider that has a working version. Calls run one after the other; changes to
 * `dir` are made under a lock that all processes share.
 */
export function createTools(options: ToolsOptions): Tools & { close(): Promise<void> } {
  const { onActivity, record, log = silentLog, reloadIntervalMs } = options;
  const closing = new AbortController();
  const { signal } = closing;
  // Absolute: programs are started in other working directories.
  const dir = resolve(options.dir);
  const { ytDlp, ffmpeg, alternative } = createInstallers({ ...options, dir, log }, signal);
  const lockFile = join(dir, 'lock');

  const underLock = <T>(work: () => Promise<T>): Promise<T> => {
    const onWait = () => onActivity({ name: 'Waiting for another process that installs the tools' });
    return withLock(lockFile, work, { signal, onWait });
  };
  const queue = pLimit(1);
  const enqueue = <T>(task: () => Promise<T>): Promise<T> =>
    queue(() => {
      signal.throwIfAborted();
      return task();
    });
  const recordInstalled = async () => {
    const installed = describeInstalled(ytDlp.get(), ffmpeg.get());
    if (installed) await record(installed);
  };

  const isMissing = async (installer: Installer<YtDlp> | Installer<Ffmpeg>) => {
    if (!installer.tool()) await installer.reload();
    return !installer.tool();
  };
  const installMissing = async () => {
    // Checked again under the lock: another process may have installed them meanwhile.
    // FFmpeg first: streams need no yt-dlp.
    for (const installer of [ffmpeg, ytDlp]) if (await isMissing(installer)) await installer.install(signal);
  };
  /** Does not wait for the lock: its holder may be using the staged folders, and cleans up itself. */
  const cleanLeftovers = async () => {
    const staged = await Promise.all([ytDlp.hasStaged(), ffmpeg.hasStaged()]);
    if (!staged.includes(true)) return;
    const clean = () => Promise.all([ytDlp.cleanStaged(), ffmpeg.cleanStaged()]);
    const onWait = () => {
      throw new Error('The lock is held by another process');
    };
    await withLock(lockFile, clean, { signal, onWait }).catch(() => undefined);
  };

  /** Whether the current version has changed, through this process or another. */
  const updateTool = async <Tool>(installer: Installer<Tool>, withinLock = underLock): Promise<boolean> => {
    const isReloaded = await installer.reload();
    if (!installer.tool()) {
      await withinLock(async () => {
        await installer.reload();
        if (!installer.tool()) await installer.install(signal);
      });
      return true;
    }
    const update = await installer.findUpdate(signal);
    const isUpdated = update !== undefined && (await withinLock(() => installer.update(update, signal)));
    return isUpdated || isReloaded;
  };

  /** Has its own queue and lock: its download, which may take minutes, delays nothing else. */
  const alternativeQueue = pLimit(1);
  const updateAlternative = async () => {
    if (!alternative || signal.aborted) return;
    try {
      await updateTool(alternative, (work) => withLock(join(dir, 'nightly.lock'), work, { signal }));
    } catch (error) {
      if (!signal.aborted) log.info('The nightly release of yt-dlp is not available', { reason: reasonOf(error) });
    }
  };

  const reloadLoop = startReloadLoop({
    intervalMs: reloadIntervalMs,
    reload: () =>
      enqueue(async () => {
        const changes = await Promise.all([ytDlp.reloadIfChanged(), ffmpeg.reloadIfChanged()]);
        await alternative?.reloadIfChanged();
        if (changes.includes(true)) await recordInstalled();
      }),
    onError: (error) => {
      if (!signal.aborted) log.warn('Failed to reload tools', { error });
    },
  });

  return {
    ytDlp: ytDlp.tool,
    ffmpeg: ffmpeg.tool,
    alternative() {
      const [stable, nightly] = [ytDlp.tool(), alternative?.tool()];
      return stable && nightly && compareVersions(stable.version, nightly.version) !== 0 ? nightly : undefined;
    },
    ensure: () =>
      enqueue(async () => {
        await alternative?.reload();
        const missing = await Promise.all([isMissing(ytDlp), isMissing(ffmpeg)]);
        if (missing.includes(true)) await underLock(installMissing);
        else await cleanLeftovers();
        await recordInstalled();
      }),
    update: () =>
      enqueue(async () => {
        const changed = { ffmpeg: await updateTool(ffmpeg), ytDlp: await updateTool(ytDlp) };
        if (changed.ytDlp || changed.ffmpeg) await recordInstalled();
        return changed;
      }),
    updateAlternative: () => alternativeQueue(updateAlternative),
    async close() {
      closing.abort();
      reloadLoop.close();
      await Promise.all([queue(() => undefined), alternativeQueue(() => undefined)]);
    },
  };
}

interface ReloadLoopOptions {
  /** Undefined: never. */
  readonly intervalMs: number | undefined;
  readonly reload: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** Repeats `reload` until it is closed, skipping a turn while the one before still runs. Does not keep the process alive. */
function startReloadLoop({ intervalMs, reload, onError }: ReloadLoopOptions): { close(): void } {
  let isRunning = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await reload();
    } catch (error) {
      onError(error);
    } finally {
      isRunning = false;
    }
  };
  const timer = intervalMs === undefined ? undefined : setInterval(run, intervalMs).unref();
  return { close: () => clearInterval(timer) };
}

/** How the tools of each source are verified. */
const VERIFIED_BY: Readonly<Record<ToolSource, string>> = {
  path: 'path',
  release: 'signature',
  pypi: 'registry',
  system: 'system',
  npm: 'registry',
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
  };
}
