import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { compareVersions, folderNameOf } from '../tools.ts';

/** A version in the store. */
export interface InstalledVersion<Tool> {
  readonly tool: Tool;
  /** Epoch seconds. */
  readonly installedAt: number;
  /** The name of its folder. */
  readonly folder: string;
}

export type VersionStore<Tool extends { readonly version: string }> = ReturnType<typeof createVersionStore<Tool>>;

/** Size and modification time of each file in the command of a tool. */
type Stamp = Readonly<Record<string, string>>;

const POINTER = 'current';
const MANIFEST = 'tool.json';

/**
 * Versions of one tool side by side, one of them current. Names of staged folders start with a dot, and a version becomes
 * current by one rename: a process that is killed at any time leaves either the old or the new version current.
 * @param filesOf the files that a tool is started with. A version whose files have changed is ignored.
 */
export function createVersionStore<Tool extends { readonly version: string }>(
  dir: string,
  filesOf: (tool: Tool) => readonly string[],
) {
  const stampOf = async (tool: Tool): Promise<Stamp> => {
    const files = filesOf(tool).filter(isAbsolute);
    return Object.fromEntries(await Promise.all(files.map(async (file) => [file, await stampFile(file)])));
  };

  const read = async (folder: string): Promise<InstalledVersion<Tool> | undefined> => {
    try {
      const { tool, installedAt, stamp } = JSON.parse(await readFile(join(dir, folder, MANIFEST), 'utf8'));
      return JSON.stringify(await stampOf(tool)) === JSON.stringify(stamp) ? { tool, installedAt, folder } : undefined;
    } catch {
      return undefined; // unfinished, damaged or removed
    }
  };
  const pointer = () => readFile(join(dir, POINTER), 'utf8').catch(() => '');
  const folders = async () => {
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  };
  const others = async () => {
    const current = await pointer();
    const versions = await Promise.all((await folders()).filter((name) => name !== current).map(read));
    return versions.filter((one) => one !== undefined).sort(newestFirst);
  };
  const switchTo = async ({ folder }: InstalledVersion<Tool>) => {
    const next = join(dir, `.${POINTER}-${process.pid}`);
    await writeFile(next, folder);
    await rename(next, join(dir, POINTER));
  };

  return {
    /** The current version, if its files are unchanged. */
    async current(): Promise<InstalledVersion<Tool> | undefined> {
      const folder = await pointer();
      return folder === folderNameOf(folder) ? read(folder) : undefined;
    },
    /** All other versions whose files are unchanged, newest first. */
    others,
    /** Creates an empty folder that is not a version yet. */
    async stage(): Promise<string> {
      await mkdir(dir, { recursive: true });
      return mkdtemp(join(dir, '.staged-'));
    },
    /** Turns a staged folder into the current version. */
    async activate(stagedFolder: string, locate: (folder: string) => Tool): Promise<InstalledVersion<Tool>> {
      const taken = new Set(await folders());
      const name = folderNameOf(locate('').version);
      let folder = name;
      for (let copy = 2; taken.has(folder); copy++) folder = `${name}+${copy}`;
      const tool = locate(join(dir, folder));
      const installedAt = Math.floor(Date.now() / 1000);
      await rename(stagedFolder, join(dir, folder));
      const manifest = JSON.stringify({ tool, installedAt, stamp: await stampOf(tool) }, undefined, 2);
      await writeFile(join(dir, folder, MANIFEST), manifest);
      const installed = { tool, installedAt, folder };
      await switchTo(installed);
      return installed;
    },
    switchTo,
    /** Removes staged folders: in use by the process that holds the lock, or left by one that was killed. Requires the lock. */
    async cleanStaged(): Promise<void> {
      const staged = (await readdir(dir).catch(() => [])).filter((name) => name.startsWith('.'));
      await Promise.all(staged.map((name) => rm(join(dir, name), { recursive: true, force: true })));
    },
    /** Removes all but the current version and the newest `keep` others. */
    async prune(keep: number): Promise<void> {
      const current = await pointer();
      const kept = new Set([current, ...(await others()).slice(0, keep).map(({ folder }) => folder)]);
      const old = (await folders()).filter((name) => !kept.has(name));
      await Promise.all(old.map((name) => rm(join(dir, name), { recursive: true, force: true })));
    },
  };
}

async function stampFile(file: string): Promise<string> {
  const { size, mtimeMs } = await stat(file);
  return `${size} ${Math.floor(mtimeMs)}`;
}

const newestFirst = <Tool extends { readonly version: string }>(
  a: InstalledVersion<Tool>,
  b: InstalledVersion<Tool>,
): number => compareVersions(b.tool.version, a.tool.version) || b.installedAt - a.installedAt;

interface LockOptions {
  readonly signal: AbortSignal;
  /** Called once when another holder has the lock. An error that it throws ends the wait. */
  readonly onWait?: () => void;
  /** @default 500 */
  readonly pollIntervalMs?: number;
}

/** SQLite's result code while another connection holds the lock. */
const SQLITE_BUSY = 5;

/**
 * Runs work under a lock, for one holder at a time of this and other processes. The lock is that of an empty SQLite database
 * because the system releases it when its process ends, also by SIGKILL. The file stays.
 * @throws what the work throws; the signal's reason while it waits
 */
export async function withLock<T>(file: string, work: () => Promise<T>, options: LockOptions): Promise<T> {
  const { signal, onWait, pollIntervalMs = 500 } = options;
  await mkdir(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  try {
    for (let waits = 0; !take(database); waits++) {
      if (waits === 0) onWait?.();
      await sleep(pollIntervalMs, undefined, { signal });
    }
    return await work();
  } finally {
    database.close();
  }
}

function take(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === SQLITE_BUSY) return false;
    throw error;
  }
}
