import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { extname, join } from 'node:path';
import { ReelayError } from '../failure.ts';
import { requireWritable, type SuggestedFile, safeFileName, sizeOf } from '../files/index.ts';

const STATE_FILE = '.reelay.json';

/** A file of the folder, which may be unfinished. */
export interface FolderFile {
  /** The link of the list that it was fetched for. */
  readonly list: string;
  /** The link of the entry. */
  readonly url: string;
  /** The parameters by which it was selected, as a query. */
  readonly selection: string;
  readonly file: string;
}

/** Which entry each file of a folder belongs to, so that a changed title is no other file. */
export interface FolderState {
  readonly files: readonly FolderFile[];
  /** It was missing or damaged: files that are there are found by name and size. */
  readonly isRebuilt: boolean;
  readonly isDamaged: boolean;
  find(entry: Pick<FolderFile, 'url' | 'selection'>): FolderFile | undefined;
  /** Chooses the name of a new file, and stores it before anything is written. @throws ReelayError `not-writable` */
  add(entry: Omit<FolderFile, 'file'>, suggested: SuggestedFile): Promise<string>;
  /** Stores a file of this name. @throws ReelayError `not-writable` */
  adopt(file: FolderFile): Promise<void>;
  /** @throws ReelayError `not-writable` */
  remove(file: FolderFile): Promise<void>;
}

export async function openFolderState(folder: string): Promise<FolderState> {
  const path = join(folder, STATE_FILE);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  const stored = text === undefined ? undefined : parseState(text);
  let files = stored ?? [];
  const save = () => requireWritable(path, replaceFile(path, JSON.stringify({ version: 1, files }, undefined, 1)));

  const adopt: FolderState['adopt'] = async (file) => {
    files = [...files, file];
    await save();
  };
  const find: FolderState['find'] = ({ url, selection }) =>
    files.find((known) => known.url === url && known.selection === selection);

  /** A file of another origin keeps its name; one of the same size is the entry's, of a folder whose state is lost. */
  const chooseName = async ({ name, totalBytes }: SuggestedFile): Promise<string> => {
    const taken = new Set(files.map(({ file }) => file.toLowerCase()));
    const extension = extname(name);
    for (let number = 1; ; number++) {
      const file = number === 1 ? name : `${name.slice(0, name.length - extension.length)} (${number})${extension}`;
      if (taken.has(file.toLowerCase())) continue;
      const size = await sizeOf(join(folder, file));
      if (size === undefined || size === totalBytes || (totalBytes === undefined && !stored)) return file;
    }
  };

  return {
    get files() {
      return files;
    },
    isRebuilt: !stored,
    isDamaged: text !== undefined && !stored,
    find,
    async add(entry, suggested) {
      const file = await chooseName(suggested);
      await adopt({ ...entry, file });
      return file;
    },
    adopt,
    async remove(removed) {
      files = files.filter((file) => file !== removed);
      await save();
    },
  };
}

/** Whether a folder is kept in step with a list. */
export const hasFolderState = async (folder: string): Promise<boolean> =>
  (await sizeOf(join(folder, STATE_FILE))) !== undefined;

/** Undefined for anything but a state. Names that leave the folder are none: files are removed by them. */
function parseState(text: string): readonly FolderFile[] | undefined {
  try {
    const { version, files } = Object(JSON.parse(text)) as { version?: unknown; files?: unknown };
    if (version !== 1 || !Array.isArray(files)) return undefined;
    const isFile = (one: unknown): one is FolderFile => {
      const { list, url, selection, file } = Object(one) as Record<string, unknown>;
      return (
        [list, url, selection, file].every((text) => typeof text === 'string') && safeFileName(String(file)) === file
      );
    };
    return files.every(isFile) ? files : undefined;
  } catch {
    return undefined;
  }
}

/** Writes a file so that a process which ends at any moment leaves the old one or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.new`;
  const handle = await open(draft, 'w');
  try {
    await handle.writeFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
}

const LOCK_FILE = '.reelay.lock';
/** Writing a lock takes less. */
const WRITING_MS = 10_000;

/**
 * Keeps other processes from updating a folder. The lock of a process of this machine that has ended is taken over.
 * @returns what releases it
 * @throws ReelayError `folder-in-use`, `not-writable`
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, LOCK_FILE);
  const content = JSON.stringify({ pid: process.pid, host: hostname() });
  const take = async (): Promise<boolean> => {
    try {
      await writeFile(path, content, { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      return requireWritable(path, Promise.reject(error));
    }
  };
  if (!(await take())) {
    const held = await readFile(path, 'utf8').catch(() => '');
    const isStale = held === '' ? await isOld(path) : hasEnded(held);
    if (isStale) await removeStale(path, held);
    if (!isStale || !(await take()))
      throw new ReelayError('folder-in-use', {
        message: `Another reelay updates ${folder}; if that is not so, remove ${path}`,
      });
  }
  return () => rm(path, { force: true });
}

/** Whether a lock without content is not that of a process which is about to write it: its process, or the machine, has ended. */
const isOld = async (path: string): Promise<boolean> =>
  Date.now() - ((await stat(path).catch(() => undefined))?.mtimeMs ?? 0) > WRITING_MS;

/** Removes a lock, unless another process has replaced it in the meantime. */
async function removeStale(path: string, stale: string): Promise<void> {
  const aside = `${path}.${process.pid}`;
  await rename(path, aside).catch(() => undefined);
  const removed = await readFile(aside, 'utf8').catch(() => stale);
  if (removed === stale) await rm(aside, { force: true });
  else await rename(aside, path);
}

/** Whether the process that has written a lock has ended; not so when that cannot be known. */
function hasEnded(content: string): boolean {
  try {
    const { pid, host } = Object(JSON.parse(content)) as { pid?: unknown; host?: unknown };
    if (host !== hostname() || typeof pid !== 'number') return false;
    if (pid !== process.pid) process.kill(pid, 0);
    return pid === process.pid;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
