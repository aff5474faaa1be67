import {
  type Activity,
  compareVersions,
  type FetchOptions,
  type Log,
  type ToolProvider,
  ToolRefused,
  type ToolSource,
  ToolUnavailable,
} from '../tools.ts';
import type { InstalledVersion, VersionStore } from './version-store.ts';

interface InstallerOptions<Tool extends { readonly version: string }> {
  /** The name in messages: `yt-dlp`, `FFmpeg`. */
  readonly name: string;
  readonly store: VersionStore<Tool>;
  /** They are tried in this order. */
  readonly providers: readonly ToolProvider<Tool>[];
  /** Whether the settings allow an installed version. */
  readonly isAllowed: (tool: Tool) => boolean;
  /**
   * The smoke test, which may take seconds.
   * @returns what is recorded with the version
   * @throws when a candidate does not work
   * @default none: its providers have tested it
   */
  readonly smokeTest?: ((candidate: Tool) => Promise<Partial<Tool> | undefined>) | undefined;
  /** Checks a candidate that would replace one that works, after the smoke test. @throws when it must not. @default none */
  readonly checkUpdate?: ((candidate: Tool, signal: AbortSignal) => Promise<void>) | undefined;
  readonly onActivity: (activity: Activity) => void;
  /** Called with one line when an update failed. */
  readonly onFailure: (reason: string) => void;
  /** Called with one line when the tool does not come from its first provider. */
  readonly onNotice: (line: string) => void;
  readonly log: Log;
  /** Ends what is under way. */
  readonly signal: AbortSignal;
}

/** Runs work while no other process changes the store. */
type RunLocked = <T>(work: () => Promise<T>) => Promise<T>;

/** Versions kept for a rollback, besides the current one. */
const MAX_PREVIOUS_VERSIONS = 2;

/** Installs one tool and its updates. */
export function createInstaller<Tool extends { readonly version: string; readonly source: ToolSource }>(
  options: InstallerOptions<Tool>,
) {
  const { name, store, providers, isAllowed, smokeTest, checkUpdate, onActivity, onFailure, onNotice, log, signal } =
    options;
  let current: InstalledVersion<Tool> | undefined;

  /** Stages a version, checks it, and makes it current. */
  const fetch = async (
    provider: ToolProvider<Tool>,
    activity: string,
    newerThan?: string,
  ): Promise<InstalledVersion<Tool>> => {
    const fetching: Activity = { name: activity, tool: name, step: 'fetch' };
    onActivity(fetching);
    // What a provider before has left of a failed download takes the disk space of this one.
    await store.cleanStaged();
    const staged = await store.stage();
    const locate = await provider.fetch(staged, {
      onBytes: createFetchProgress(fetching, onActivity),
      onInstall: () => onActivity({ name: `Installing ${name}`, tool: name, step: 'install' }),
      signal,
    });
    const candidate = locate(staged);
    if (newerThan !== undefined && compareVersions(candidate.version, newerThan) <= 0)
      throw new Error(`the download is version ${candidate.version}`);
    if (smokeTest) onActivity({ name: `Checking ${name}`, tool: name, step: 'check' });
    const facts = await smokeTest?.(candidate).catch((cause) => {
      throw new ToolRefused(reasonOf(cause), { cause });
    });
    if (newerThan !== undefined) await checkUpdate?.(candidate, signal);
    signal.throwIfAborted();
    const installed = await store.activate(staged, (folder) => ({ ...locate(folder), ...facts }));
    log.info('Tool installed', { tool: name, version: installed.tool.version, provider: provider.label });
    return installed;
  };

  /** Switches to the newest other installed version that works. */
  const rollBack = async (): Promise<InstalledVersion<Tool> | undefined> => {
    for (const other of await store.others()) {
      if (!isAllowed(other.tool)) continue;
      try {
        await smokeTest?.(other.tool);
        await store.switchTo(other);
        return other;
      } catch (error) {
        signal.throwIfAborted();
        const { version } = other.tool;
        log.warn('Installed version does not work', { tool: name, version, reason: reasonOf(error) });
      }
    }
    return undefined;
  };

  const reload = async ({ isKept } = { isKept: false }) => {
    const stored = await store.current();
    const found = stored && isAllowed(stored.tool) ? stored : undefined;
    if (!found && isKept) return false;
    const isOther = found?.folder !== current?.folder || found?.installedAt !== current?.installedAt;
    current = found;
    return isOther;
  };
  const cleanUp = async () => {
    await store.cleanStaged();
    await store.prune(MAX_PREVIOUS_VERSIONS);
  };

  /** Asks one provider after the other. @returns what the first one answers that does not fail; undefined when all fail */
  const tryProviders = async <T>(failures: string[], ask: (provider: ToolProvider<Tool>) => Promise<T> | undefined) => {
    for (const provider of providers) {
      try {
        const answer = await ask(provider);
        if (answer !== undefined) return answer;
      } catch (error) {
        signal.throwIfAborted();
        failures.push(`${provider.label} (${reasonOf(error)})`);
        // That it cannot be reached or has nothing for this machine is no problem while another one has the tool.
        if (error instanceof ToolRefused)
          log.warn('Tool was refused', { tool: name, provider: provider.label, reason: reasonOf(error) });
      }
    }
    return undefined;
  };

  const warnOfSkipped = async (provider: ToolProvider<Tool>, version: string) => {
    const skipped = await provider.findSkipped?.(version, signal).catch((error) => {
      signal.throwIfAborted();
      log.info('Failed to look for skipped releases', { tool: name, reason: reasonOf(error) });
    });
    if (skipped)
      log.warn('A newer release was skipped', {
        tool: name,
        version,
        skipped: skipped.version,
        reason: skipped.reason,
      });
  };

  const installMissing = async () => {
    if (!current) await reload();
    if (current) return;
    const failures: string[] = [];
    current =
      (await rollBack()) ??
      (await tryProviders(failures, async (provider) => {
        const installed = await fetch(provider, `Downloading ${name}`);
        if (failures.length > 0) onNotice(`Took ${name} from ${provider.label}; not from ${failures.join(', ')}`);
        await warnOfSkipped(provider, installed.tool.version);
        return installed;
      }));
    if (current) return cleanUp();
    await store.cleanStaged();
    throw new ToolUnavailable(`${name} cannot be installed: ${failures.join('; ')}`);
  };

  /** Installs the newest version if it is newer than `kept`, or another that is authoritative. @returns whether it is in use */
  const updateFrom = async (kept: string, runLocked: RunLocked): Promise<boolean> => {
    const failures: string[] = [];
    const newest = await tryProviders(failures, (provider) =>
      provider.findNewest?.(signal).then((version) => ({ provider, version })),
    );
    if (!newest) {
      if (failures.length === 0) return false;
      const reason = failures.join('; ');
      log.warn('Update check failed', { tool: name, reason });
      onFailure(`Update check of ${name} failed: ${reason}`);
      return false;
    }
    const { provider, version } = newest;
    await warnOfSkipped(provider, version);
    const difference = compareVersions(version, kept);
    if (difference === 0 || (difference < 0 && !provider.isAuthoritative)) return false;
    return runLocked(async () => {
      try {
        current = await fetch(provider, `Updating ${name} to ${version}`, provider.isAuthoritative ? undefined : kept);
        return true;
      } catch (error) {
        signal.throwIfAborted();
        const reason = reasonOf(error);
        log.error('Update failed, keeping the current version', { tool: name, version, kept, reason });
        onFailure(`Update of ${name} to ${version} failed, keeping ${kept}: ${reason}`);
        return false;
      } finally {
        await cleanUp();
      }
    });
  };

  return {
    name,
    /** The version in use. */
    current: () => current,
    /** Removes what killed processes have left. Requires the lock. */
    cleanStaged: store.cleanStaged,
    /**
     * Reads the current version from the store.
     * @param options.isKept whether the version in use stays while the store has none that is readable
     * @returns whether it has changed
     */
    reload,
    /**
     * Installs the tool unless the store has it: an installed version that works, or else one of a provider. Requires the lock.
     * @throws ToolUnavailable when no provider has a working version
     */
    installMissing,
    /**
     * Switches to the newest version of the first provider that responds. When that fails, the version before it stays in use.
     * @returns whether the version in use has changed, through this process or another
     * @throws ToolUnavailable when there was none, and no provider has a working one
     */
    async update(runLocked: RunLocked): Promise<boolean> {
      const isReloaded = await reload();
      if (current) return (await updateFrom(current.tool.version, runLocked)) || isReloaded;
      await runLocked(installMissing);
      return true;
    },
  };
}

const MAX_REASON_LENGTH = 200;

/** The first line of an error for the operator, with the cause where the message alone says too little (network errors). */
export function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const [line = ''] = message.split('\n');
  const isVague = /^fetch failed$|^aborted|timeout$/i.test(line) && cause instanceof Error;
  return (isVague ? `${line}: ${cause.message}` : line).slice(0, MAX_REASON_LENGTH);
}

const REPORT_INTERVAL_BYTES = 2 ** 20;

/** Reports the bytes of a download as an activity: every MiB, and at the end. */
function createFetchProgress(fetching: Activity, onActivity: (activity: Activity) => void): FetchOptions['onBytes'] {
  let reportedBytes = 0;
  return (bytes, totalBytes) => {
    if (bytes - reportedBytes < REPORT_INTERVAL_BYTES && bytes !== totalBytes) return;
    reportedBytes = bytes;
    onActivity({ ...fetching, bytes, ...(totalBytes !== undefined && { totalBytes }) });
  };
}
