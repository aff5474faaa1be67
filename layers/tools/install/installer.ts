import type { Log } from '../../../core/log/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import { type Activity, type ToolSource, ToolUnavailable } from '../tools.ts';
import { compareVersions } from '../versions.ts';
import type { InstalledVersion, VersionStore } from './version-store.ts';

export interface InstallerOptions<Tool> {
  /** As people call it. */
  readonly name: string;
  readonly shelf: VersionStore<Tool>;
  /** In the order to try them. */
  readonly sources: readonly ToolProvider<Tool>[];
  /** Whether the settings allow what is on the shelf. */
  readonly allows: (tool: Tool) => boolean;
  /** @throws when a candidate does not do what this service needs of it */
  readonly check: (candidate: Tool) => Promise<void>;
  readonly report: (activity: Activity) => void;
  /** Called with one line when an update could not be made. */
  readonly onFailure: (reason: string) => void;
  readonly log: Log;
}

/** Puts one tool in place, and newer versions of it later. */
export interface Installer<Tool> {
  /** What is in place. */
  get(): InstalledVersion<Tool> | undefined;
  /** Looks at the shelf for what is current there. Whether it is another one than before. */
  reload(): Promise<boolean>;
  /** The same, but what cannot be read there takes nothing away. */
  follow(): Promise<boolean>;
  /** Removes what a process that was killed left behind: for whoever holds the lock. */
  readonly sweep: () => Promise<void>;
  readonly hasLeftovers: () => Promise<boolean>;
  /** @throws ToolUnavailable when no source has one that works */
  install(signal: AbortSignal): Promise<void>;
  /** The source and the version of an update, if there is one. */
  look(signal: AbortSignal): Promise<Update<Tool> | undefined>;
  /** Whether it is in place now: what fails leaves the version before it. */
  update(update: Update<Tool>, signal: AbortSignal): Promise<boolean>;
}

export interface Update<Tool> {
  readonly source: ToolProvider<Tool>;
  readonly version: string;
}

/** Versions kept besides the current one. */
const KEPT = 2;
/** Bytes between two reports. */
const REPORT_EVERY = 2 ** 20;

export function createInstaller<Tool extends { readonly version: string; readonly source: ToolSource }>(
  options: InstallerOptions<Tool>,
): Installer<Tool> {
  const { name, shelf, sources, allows, check, report, onFailure, log } = options;
  let placed: InstalledVersion<Tool> | undefined;

  const fetch = async (
    source: ToolProvider<Tool>,
    activity: string,
    signal: AbortSignal,
    newerThan?: string,
  ): Promise<InstalledVersion<Tool>> => {
    let reported = 0;
    const onBytes = (bytes: number, totalBytes?: number) => {
      if (bytes - reported < REPORT_EVERY && bytes !== totalBytes) return;
      reported = bytes;
      report({ name: activity, bytes, ...(totalBytes !== undefined && { totalBytes }) });
    };
    const staged = await shelf.stage();
    const locate = await source.fetch(staged, { onBytes, signal });
    const candidate = locate(staged);
    if (newerThan !== undefined && compareVersions(candidate.version, newerThan) <= 0)
      throw new Error(`it hands out ${candidate.version} instead`);
    await check(candidate);
    signal.throwIfAborted();
    return shelf.place(staged, locate);
  };

  /** One that was current before, while there is still one that works. */
  const fallBack = async (signal: AbortSignal): Promise<InstalledVersion<Tool> | undefined> => {
    for (const other of await shelf.others()) {
      if (!allows(other.tool)) continue;
      try {
        await check(other.tool);
        await shelf.switchTo(other);
        return other;
      } catch (error) {
        signal.throwIfAborted();
        log.warn(`${name} ${other.tool.version} on the shelf does not work`, { reason: reasonOf(error) });
      }
    }
    return undefined;
  };

  const onShelf = async (): Promise<InstalledVersion<Tool> | undefined> => {
    const current = await shelf.current();
    return current && allows(current.tool) ? current : undefined;
  };
  const isOther = (found: InstalledVersion<Tool> | undefined) =>
    found?.folder !== placed?.folder || found?.installedAt !== placed?.installedAt;

  return {
    get: () => placed,
    sweep: shelf.sweep,
    hasLeftovers: shelf.hasLeftovers,
    async reload() {
      const found = await onShelf();
      const changes = isOther(found);
      placed = found;
      return changes;
    },
    async follow() {
      const found = await onShelf();
      const changes = found !== undefined && isOther(found);
      if (changes) placed = found;
      return changes;
    },
    async install(signal) {
      placed = await fallBack(signal);
      const failures: string[] = [];
      for (const source of placed ? [] : sources) {
        try {
          report({ name: `Downloading ${name}` });
          placed = await fetch(source, `Downloading ${name}`, signal);
          log.info(`${name} ${placed.tool.version} is in place`, { source: source.label });
          break;
        } catch (error) {
          signal.throwIfAborted();
          failures.push(`${source.label} (${reasonOf(error)})`);
          log.warn(`${name} cannot be had from ${source.label}`, { reason: reasonOf(error) });
        }
      }
      if (!placed) throw new ToolUnavailable(`${name} cannot be had: ${failures.join('; ')}`);
      await shelf.sweep();
      await shelf.prune(KEPT);
    },
    async look(signal) {
      const failures: string[] = [];
      for (const source of sources) {
        if (!placed || !source.newest) continue;
        try {
          const version = await source.newest(signal);
          const difference = compareVersions(version, placed.tool.version);
          return difference > 0 || (source.decides && difference !== 0) ? { source, version } : undefined;
        } catch (error) {
          signal.throwIfAborted();
          failures.push(`${source.label} (${reasonOf(error)})`);
          log.info(`${source.label} tells of no newer ${name}`, { reason: reasonOf(error) });
        }
      }
      if (failures.length > 0) onFailure(`Nobody tells of a newer ${name}: ${failures.join('; ')}`);
      return undefined;
    },
    async update({ source, version }, signal) {
      const activity = `Updating ${name} to ${version}`;
      try {
        report({ name: activity });
        placed = await fetch(source, activity, signal, source.decides ? undefined : placed?.tool.version);
        log.info(`${name} ${placed.tool.version} is in place`, { source: source.label });
        return true;
      } catch (error) {
        signal.throwIfAborted();
        const outcome = `${name} ${version} does not work, ${placed?.tool.version} stays`;
        log.error(outcome, { reason: reasonOf(error) });
        onFailure(`${outcome}: ${reasonOf(error)}`);
        return false;
      } finally {
        await shelf.sweep();
        await shelf.prune(KEPT);
      }
    },
  };
}

const REASON_LENGTH = 200;

/** The first line of what went wrong, with its cause where it says more: a network's error is all in there. */
function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const [line = ''] = message.split('\n');
  const isVague = /^fetch failed$|^aborted|timeout$/i.test(line) && cause instanceof Error;
  return (isVague ? `${line}: ${cause.message}` : line).slice(0, REASON_LENGTH);
}
