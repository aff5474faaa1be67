import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { lstat, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

/** The name contains the id of the process that created the directory. */
const NAME = /^reelay-worker-(\d+)-/;
/** Containers that share a temporary folder do not see each other's processes: a missing process alone proves nothing. */
const MIN_STALE_AGE_MS = 24 * 3_600_000;

let isPrepared = false;
/** Those of this process. They may have copies of cookies and passwords. */
const directories = new Set<string>();

/** Creates the working directory of one worker. The first call also removes directories of killed processes. */
export async function createWorkerDirectory(): Promise<string> {
  if (!isPrepared) {
    void removeStaleWorkerDirectories(tmpdir());
    process.once('exit', removeAtExit);
  }
  isPrepared = true;
  const directory = await mkdtemp(join(tmpdir(), `reelay-worker-${process.pid}-`));
  directories.add(directory);
  return directory;
}

/** @throws Error when something in it cannot be removed */
export async function removeWorkerDirectory(directory: string): Promise<void> {
  await removeFolder(directory);
  directories.delete(directory);
}

/** After a failure, or a second signal, this process does not wait for the end of its workers. */
function removeAtExit(): void {
  for (const directory of directories)
    try {
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
    } catch {
      // What a hostile site has left, which a later start removes.
    }
}

/** Removes old directories of workers whose process is gone. Those of other users are skipped. */
export async function removeStaleWorkerDirectories(dir: string): Promise<void> {
  const names = await readdir(dir).catch(() => []);
  for (const name of names) {
    const pid = Number(NAME.exec(name)?.[1]);
    if (!pid || !isProcessGone(pid)) continue;
    const directory = join(dir, name);
    const stats = await lstat(directory).catch(() => undefined);
    if (!stats?.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid)) continue;
    if (Date.now() - stats.mtimeMs > MIN_STALE_AGE_MS) await removeFolder(directory).catch(() => undefined);
  }
}

/**
 * A hostile site may have left hundreds of thousands of files, names that are no text, folders without rights, and folders nested
 * so deep that their paths are longer than the system takes. So nested folders are moved to the top before they are emptied.
 */
const REMOVE = `
const { chmodSync, existsSync, opendirSync, renameSync, rmdirSync, unlinkSync } = require('node:fs');
const top = Buffer.from(require('node:worker_threads').workerData);
const unique = require('node:crypto').randomUUID();
const inside = (folder, name) => Buffer.concat([folder, Buffer.from('/'), Buffer.from(name)]);
// Elsewhere it is that of the whole process.
if (process.platform === 'linux') require('node:os').setPriority(19);
const folders = existsSync(top) ? [top] : [];
for (const folder of folders) {
  const entries = opendirSync(folder, { encoding: 'buffer' });
  for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
    const path = inside(folder, entry.name);
    if (!entry.isDirectory()) {
      unlinkSync(path);
      continue;
    }
    chmodSync(path, 0o700);
    const moved = folder === top ? path : inside(top, unique + folders.length);
    if (moved !== path) renameSync(path, moved);
    folders.push(moved);
  }
  entries.closeSync();
  if (folder !== top) rmdirSync(folder);
}
if (folders.length > 0) rmdirSync(top);
`;

let removing: Promise<unknown> = Promise.resolve();

/**
 * Removes what confined processes have written, which have ended, in a thread of low priority, one folder after the other.
 * @throws Error when something in it cannot be removed
 */
export function removeFolder(path: string): Promise<void> {
  const removed = removing.then(async () => {
    await once(new Worker(REMOVE, { eval: true, workerData: path, env: {}, execArgv: [] }), 'exit');
  });
  removing = removed.catch(() => undefined);
  return removed;
}

/** Whether no process has this id on this machine. False for a process of another user (EPERM). */
function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
