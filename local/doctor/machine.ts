import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import type { Settings } from '../../core/config/index.ts';
import { isDiskNearlyFull } from '../../core/state/sqlite/index.ts';
import { type Finding, findingsOn } from './finding.ts';

const OTHERS = 0o077;

/** The data folder and the folder of temporary files: writable, private, with free space. */
export function checkFolders({ dataDir, toolsDir }: Pick<Settings, 'dataDir' | 'toolsDir'>): Promise<Finding[]> {
  return Promise.all([
    checkFolder('Data folder', resolve(dataDir), { isPrivate: true }),
    checkFolder('Tools folder', resolve(toolsDir)),
    checkFolder('Temporary', tmpdir()),
  ]);
}

async function checkFolder(subject: string, dir: string, { isPrivate = false } = {}): Promise<Finding> {
  const { ok, warning, problem } = findingsOn(subject);
  const existing = firstExisting(dir);
  const stats = statSync(existing);
  if (!stats.isDirectory()) return problem(`${existing} is not a folder`);
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch {
    return problem(`${existing} is not writable for this user: change its owner`);
  }
  if (isDiskNearlyFull(existing, 0))
    return problem(`the disk of ${dir} is nearly full: new links are answered with 503`);
  if (existing !== dir) return ok(`${dir} will be created`);
  // The service corrects this at its start, unless the folder is a shared one.
  if (isPrivate && (stats.mode & OTHERS) !== 0) return warning(`other users can read ${dir}: chmod 700`);
  const { bavail, bsize } = await statfs(dir);
  return ok(`${dir}, ${gigabytes(bavail * bsize)} GB free`);
}

const firstExisting = (path: string): string => (existsSync(path) ? path : firstExisting(dirname(path)));

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);
