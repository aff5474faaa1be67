import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '../..');
const CACHE_DIR = join(ROOT, 'node_modules', '.cache', 'reelay-synth');
/** Everything that a template depends on: the modules of the app, files it reads, and the versions of its packages. */
const INPUTS = [
  ...['infra', 'core', 'lambdas/entries', 'test/infra/synth.ts', 'cdk.json', 'package.json', 'package-lock.json'],
  ...['web/security-headers.json', 'node_modules/aws-cdk-lib/package.json', 'node_modules/cdk-nag/package.json'],
];
const STALE_LOCK_MS = 240_000;
const MAX_CACHE_AGE_MS = 24 * 3_600_000;

/**
 * Runs a synthesis once per state of its inputs, also when several test processes ask for it at the same time.
 * @param key identifies the synthesis among those with the same inputs
 */
export async function cached<T>(key: string, synthesize: () => Promise<T>): Promise<T> {
  const folder = join(CACHE_DIR, inputHash);
  const file = join(folder, `${hash(key)}.json`);
  const lock = `${file}.lock`;
  mkdirSync(folder, { recursive: true });
  while (!existsSync(file)) {
    if (!acquire(lock)) {
      await sleep(100);
      continue;
    }
    try {
      const result = await synthesize();
      writeFileSync(`${lock}/result`, JSON.stringify(result));
      renameSync(`${lock}/result`, file);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Creates the lock, a folder, after removing one that a killed process left. */
function acquire(lock: string): boolean {
  if (Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > STALE_LOCK_MS) {
    rmSync(lock, { recursive: true, force: true });
  }
  try {
    mkdirSync(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 32);

function hashInputs(): string {
  const digest = createHash('sha256').update(process.version);
  const add = (path: string): void => {
    const stats = statSync(join(ROOT, path), { throwIfNoEntry: false });
    if (stats?.isDirectory()) for (const name of readdirSync(join(ROOT, path)).sort()) add(join(path, name));
    else digest.update(`${path}\0`).update(stats ? readFileSync(join(ROOT, path)) : 'absent');
  };
  for (const path of INPUTS) add(path);
  return digest.digest('hex').slice(0, 32);
}

function removeOldEntries(): void {
  for (const name of existsSync(CACHE_DIR) ? readdirSync(CACHE_DIR) : []) {
    const stats = statSync(join(CACHE_DIR, name), { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > MAX_CACHE_AGE_MS)
      rmSync(join(CACHE_DIR, name), { recursive: true, force: true });
  }
}

const inputHash = hashInputs();
removeOldEntries();
