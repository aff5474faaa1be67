import { join, resolve } from 'node:path';
import pLimit from 'p-limit';
import { silentLog } from '../../log/index.ts';
import type { Ffmpeg, ToolSource, Tools, ToolsInPlace, YtDlp } from '../tools.ts';
import { compareVersions } from '../versions.ts';
import { createInstallers, type ToolsOptions } from './create-installers.ts';
import { reasonOf } from './installer.ts';
import { withLock } from './lock.ts';
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
  const { ytDlp, ffmpeg, alternative } = createInstallers({ ...options, dir, log, signal });
  // FFmpeg first: streams need no yt-dlp.
  const both = [ffmpeg, ytDlp] as const;
  const lockFile = join(dir, 'lock');

  const runLocked = <T>(work: () => Promise<T>): Promise<T> => {
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

  const reload = async () => {
    const changes = await Promise.all(both.map((installer) => installer.reloadIfChanged()));
    await alternative?.reloadIfChanged();
    if (changes.includes(true)) await recordInstalled();
  };
  const reloadTimer =
    reloadIntervalMs === undefined
      ? undefined
      : setInterval(() => {
          // A task that is under way reads the folder itself.
          if (queue.activeCount + queue.pendingCount > 0) return;
          enqueue(reload).catch((error) => signal.aborted || log.warn('Failed to reload tools', { error }));
        }, reloadIntervalMs).unref();

  /** Has its own queue and lock: its download, which may take minutes, delays nothing else. */
  const alternativeQueue = pLimit(1);
  const updateAlternative = async () => {
    if (!alternative || signal.aborted) return;
    try {
      await alternative.update((work) => withLock(join(dir, 'nightly.lock'), work, { signal }));
    } catch (error) {
      if (!signal.aborted) log.info('The nightly release of yt-dlp is not available', { reason: reasonOf(error) });
    }
  };

  return {
    ytDlp: () => ytDlp.current()?.tool,
    ffmpeg: () => ffmpeg.current()?.tool,
    alternative() {
      const [stable, nightly] = [ytDlp.current()?.tool, alternative?.current()?.tool];
      return stable && nightly && compareVersions(stable.version, nightly.version) !== 0 ? nightly : undefined;
    },
    ensure: () =>
      enqueue(async () => {
        await alternative?.reload();
        for (const installer of both) if (!installer.current()) await installer.reload();
        if (both.every((installer) => installer.current())) await cleanLeftovers();
        else
          await runLocked(async () => {
            for (const installer of both) await installer.installMissing();
          });
        await recordInstalled();
      }),
    update: () =>
      enqueue(async () => {
        const changed = { ffmpeg: await ffmpeg.update(runLocked), ytDlp: await ytDlp.update(runLocked) };
        if (changed.ytDlp || changed.ffmpeg) await recordInstalled();
        return changed;
      }),
    updateAlternative: () => alternativeQueue(updateAlternative),
    async close() {
      closing.abort();
      clearInterval(reloadTimer);
      await Promise.all([queue(() => undefined), alternativeQueue(() => undefined)]);
    },
  };
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
