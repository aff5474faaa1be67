import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { compareVersions, folderNameOf } from '../versions.ts';

/** A tool on the shelf. */
export interface InstalledVersion<Tool> {
  readonly tool: Tool;
  /** Epoch seconds. */
  readonly installedAt: number;
  /** Its folder's name. */
  readonly folder: string;
}

/**
 * Versions of one tool side by side, one of them current. What is not yet current has a name that starts with a dot, and
 * a tool becomes current by one rename: a process that is killed at any moment leaves either the old or the new one.
 */
export interface VersionStore<Tool> {
  /** The current one, if its files are still what they were. */
  current(): Promise<InstalledVersion<Tool> | undefined>;
  /** The others whose files are still what they were, newest first. */
  others(): Promise<InstalledVersion<Tool>[]>;
  /** An empty folder that is not on the shelf yet. */
  stage(): Promise<string>;
  /** Puts a staged folder on the shelf and makes it current. */
  activate(staged: string, locate: (folder: string) => Tool): Promise<InstalledVersion<Tool>>;
  switchTo(placed: InstalledVersion<Tool>): Promise<void>;
  /** Whether something was begun and not placed yet, or never. */
  hasStaged(): Promise<boolean>;
  /** Removes what was begun and never placed: for whoever holds the lock. */
  cleanStaged(): Promise<void>;
  /** Removes all but the current one and the newest others. */
  prune(keep: number): Promise<void>;
}

/** Size and time of change of each file that a tool starts with. */
type Stamp = Readonly<Record<string, string>>;

const POINTER = 'current';
const NOTE = 'tool.json';

/** @param filesOf what a tool starts with: a change to any of them makes it another tool */
export function createVersionStore<Tool extends { readonly version: string }>(
  dir: string,
  filesOf: (tool: Tool) => readonly string[],
): VersionStore<Tool> {
  const stampOf = async (tool: Tool): Promise<Stamp> => {
    const files = filesOf(tool).filter(isAbsolute);
    return Object.fromEntries(await Promise.all(files.map(async (file) => [file, await stampFile(file)])));
  };

  const read = async (folder: string): Promise<InstalledVersion<Tool> | undefined> => {
    try {
      const { tool, installedAt, stamp } = JSON.parse(await readFile(join(dir, folder, NOTE), 'utf8'));
      return JSON.stringify(await stampOf(tool)) === JSON.stringify(stamp) ? { tool, installedAt, folder } : undefined;
    } catch {
      return undefined; // never finished, damaged, or gone: as good as not there
    }
  };
  const pointer = () => readFile(join(dir, POINTER), 'utf8').catch(() => '');
  const folders = async () => {
    const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
    return entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  };
  const begun = async () => (await readdir(dir).catch(() => [])).filter((name) => name.startsWith('.'));
  const others = async () => {
    const current = await pointer();
    const placed = await Promise.all((await folders()).filter((name) => name !== current).map(read));
    return placed.filter((one) => one !== undefined).sort(newestFirst);
  };
  const switchTo = async ({ folder }: InstalledVersion<Tool>) => {
    const next = join(dir, `.${POINTER}-${process.pid}`);
    await writeFile(next, folder);
    await rename(next, join(dir, POINTER));
  };

  return {
    async current() {
      const folder = await pointer();
      return folder === folderNameOf(folder) ? read(folder) : undefined;
    },
    others,
    async stage() {
      await mkdir(dir, { recursive: true });
      return mkdtemp(join(dir, '.staged-'));
    },
    async activate(staged, locate) {
      const taken = new Set(await folders());
      const name = folderNameOf(locate('').version);
      let folder = name;
      for (let copy = 2; taken.has(folder); copy++) folder = `${name}+${copy}`;
      const tool = locate(join(dir, folder));
      const installedAt = Math.floor(Date.now() / 1000);
      await rename(staged, join(dir, folder));
      const note = JSON.stringify({ tool, installedAt, stamp: await stampOf(tool) }, undefined, 2);
      await writeFile(join(dir, folder, NOTE), note);
      const placed = { tool, installedAt, folder };
      await switchTo(placed);
      return placed;
    },
    switchTo,
    hasStaged: async () => (await begun()).length > 0,
    async cleanStaged() {
      await Promise.all((await begun()).map((name) => rm(join(dir, name), { recursive: true, force: true })));
    },
    async prune(keep) {
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
