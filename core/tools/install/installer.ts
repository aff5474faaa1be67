import type { Log } from '../../log/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import { type Activity, type ToolSource, ToolUnavailable } from '../tools.ts';
import { compareVersions } from '../versions.ts';
import type { InstalledVersion, VersionStore } from './version-store.ts';

export interface InstallerOptions<Tool> {
  /** For messages: `yt-dlp`, `FFmpeg`. */
  readonly name: string;
  readonly store: VersionStore<Tool>;
  /** In the order to try them. */
  readonly providers: readonly ToolProvider<Tool>[];
  /** Whether the settings allow an installed version. */
  readonly isAllowed: (tool: Tool) => boolean;
  /** The smoke test. @returns what is recorded with the version. @throws when a candidate does not work */
  readonly check: (candidate: Tool) => Promise<Partial<Tool> | undefined>;
  readonly onActivity: (activity: Activity) => void;
  /** Called with one line when an update failed. */
  readonly onFailure: (reason: string) => void;
  readonly log: Log;
}

/** Installs one tool and its updates. Methods that change the store must be called under the lock of the store's folder. */
export interface Installer<Tool> {
  /** The tool in use. */
  tool(): Tool | undefined;
  /** The version in use. */
  get(): InstalledVersion<Tool> | undefined;
  /** Reads the current version from the store. @returns whether it has changed */
  reload(): Promise<boolean>;
  /** Like `reload`, but keeps the version in use when the store has no readable one. */
  reloadIfChanged(): Promise<boolean>;
  /** Removes what killed processes have left. */
  readonly cleanStaged: () => Promise<void>;
  readonly hasStaged: () => Promise<boolean>;
  /** @throws ToolUnavailable when no provider has a working version */
  install(signal: AbortSignal): Promise<void>;
  /** Asks the first provider that responds for an update. */
  findUpdate(signal: AbortSignal): Promise<Update<Tool> | undefined>;
  /** Installs an update. @returns false when that failed, and the version before it stays in use */
  update(update: Update<Tool>, signal: AbortSignal): Promise<boolean>;
}

export interface Update<Tool> {
  readonly provider: ToolProvider<Tool>;
  readonly version: string;
}

/** Versions kept for a rollback, besides the current one. */
const MAX_PREVIOUS_VERSIONS = 2;

export function createInstaller<Tool extends { readonly version: string; readonly source: ToolSource }>(
  options: InstallerOptions<Tool>,
): Installer<Tool> {
  const { name, store, providers, isAllowed, check, onActivity, onFailure, log } = options;
  let current: InstalledVersion<Tool> | undefined;

  /** Stages a version, checks it, and makes it current. */
  const fetch = async (
    provider: ToolProvider<Tool>,
    activity: string,
    signal: AbortSignal,
    newerThan?: string,
  ): Promise<InstalledVersion<Tool>> => {
    const staged = await store.stage();
    const locate = await provider.fetch(staged, { onBytes: createFetchProgress(activity, onActivity), signal });
    const candidate = locate(staged);
    if (newerThan !== undefined && compareVersions(candidate.version, newerThan) <= 0)
      throw new Error(`the download is version ${candidate.version}`);
    const facts = await check(candidate);
    signal.throwIfAborted();
    return store.activate(staged, (folder) => ({ ...locate(folder), ...facts }));
  };

  /** Switches to the newest other installed version that works. */
  const rollBack = async (signal: AbortSignal): Promise<InstalledVersion<Tool> | undefined> => {
    for (const other of await store.others()) {
      if (!isAllowed(other.tool)) continue;
      try {
        await check(other.tool);
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

  const readCurrent = async (): Promise<InstalledVersion<Tool> | undefined> => {
    const installed = await store.current();
    return installed && isAllowed(installed.tool) ? installed : undefined;
  };
  const isChange = (found: InstalledVersion<Tool> | undefined) =>
    found?.folder !== current?.folder || found?.installedAt !== current?.installedAt;
  const logInstalled = ({ tool: { version } }: InstalledVersion<Tool>, { label }: ToolProvider<Tool>) =>
    log.info('Tool installed', { tool: name, version, provider: label });
  const cleanUp = async () => {
    await store.cleanStaged();
    await store.prune(MAX_PREVIOUS_VERSIONS);
  };

  return {
    tool: () => current?.tool,
    get: () => current,
    cleanStaged: store.cleanStaged,
    hasStaged: store.hasStaged,
    async reload() {
      const found = await readCurrent();
      const changes = isChange(found);
      current = found;
      return changes;
    },
    async reloadIfChanged() {
      const found = await readCurrent();
      const changes = found !== undefined && isChange(found);
      if (changes) current = found;
      return changes;
    },
    async install(signal) {
      current = await rollBack(signal);
      const failures: string[] = [];
      for (const provider of current ? [] : providers) {
        try {
          onActivity({ name: `Downloading ${name}` });
          current = await fetch(provider, `Downloading ${name}`, signal);
          logInstalled(current, provider);
          break;
        } catch (error) {
          signal.throwIfAborted();
          failures.push(`${provider.label} (${reasonOf(error)})`);
          log.warn('Tool provider failed', { tool: name, provider: provider.label, reason: reasonOf(error) });
        }
      }
      if (!current) throw new ToolUnavailable(`${name} cannot be installed: ${failures.join('; ')}`);
      await cleanUp();
    },
    async findUpdate(signal) {
      const failures: string[] = [];
      for (const provider of providers) {
        if (!current || !provider.findNewest) continue;
        try {
          const version = await provider.findNewest(signal);
          const difference = compareVersions(version, current.tool.version);
          return difference > 0 || (provider.authoritative && difference !== 0) ? { provider, version } : undefined;
        } catch (error) {
          signal.throwIfAborted();
          failures.push(`${provider.label} (${reasonOf(error)})`);
          log.info('Update check failed', { tool: name, provider: provider.label, reason: reasonOf(error) });
        }
      }
      if (failures.length > 0) onFailure(`Update check of ${name} failed: ${failures.join('; ')}`);
      return undefined;
    },
    async update({ provider, version }, signal) {
      const activity = `Updating ${name} to ${version}`;
      try {
        onActivity({ name: activity });
        current = await fetch(provider, activity, signal, provider.authoritative ? undefined : current?.tool.version);
        logInstalled(current, provider);
        return true;
      } catch (error) {
        signal.throwIfAborted();
        const [reason, kept] = [reasonOf(error), current?.tool.version];
        log.error('Update failed, keeping the current version', { tool: name, version, kept, reason });
        onFailure(`Update of ${name} to ${version} failed, keeping ${kept}: ${reason}`);
        return false;
      } finally {
        await cleanUp();
      }
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
export function createFetchProgress(
  name: string,
  onActivity: (activity: Activity) => void,
): (bytes: number, totalBytes?: number) => void {
  let reportedBytes = 0;
  return (bytes, totalBytes) => {
    if (bytes - reportedBytes < REPORT_INTERVAL_BYTES && bytes !== totalBytes) return;
    reportedBytes = bytes;
    onActivity({ name, bytes, ...(totalBytes !== undefined && { totalBytes }) });
  };
}
