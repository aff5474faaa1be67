import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const WEB = join(ROOT, 'web');
/** File with the digest of the sources that the folder was built from. */
const STAMP = '.built-from';
/** A failed build is reported with this much of its output. */
const MAX_ERROR_CHARACTERS = 500;

interface BuildPageOptions {
  /** @default dist/web */
  readonly outDir?: string;
  /** Aborts a running build and removes its output. */
  readonly signal?: AbortSignal;
}

/**
 * Builds the page into a folder, unless the folder was built from the same sources. In a child process: its memory is
 * freed afterwards, and it does not block the event loop. The folder is replaced as a whole.
 * @returns the folder
 * @throws Error with a message for the operator when the build fails
 */
export async function buildPage({ outDir = join(ROOT, 'dist/web'), signal }: BuildPageOptions = {}): Promise<string> {
  const stamp = digestOfSources();
  if ((await readFile(join(outDir, STAMP), 'utf8').catch(() => '')) === stamp) return outDir;
  const fresh = join(dirname(outDir), `.web-${randomUUID()}`);
  try {
    await mkdir(fresh, { recursive: true });
    await runVite(fresh, signal);
    await writeFile(join(fresh, STAMP), stamp);
    await replace(outDir, fresh);
    return outDir;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The same command as in a deployment. */
function runVite(outDir: string, signal?: AbortSignal): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js');
  const args = [vite, 'build', '--config', join(WEB, 'vite.config.ts'), '--configLoader', 'native'];
  const child = spawn(process.execPath, [...args, '--outDir', outDir, '--logLevel', 'error'], {
    cwd: ROOT,
    // A production build, whatever the NODE_ENV of this process.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
  });
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(0, MAX_ERROR_CHARACTERS);
  });
  return new Promise((done, fail) => {
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
    });
    // On exit, not on the error: a process that still runs could write into the folder being removed.
    child.once('close', (code) => {
      if (code === 0) done();
      else fail(failure ?? new Error(`Building the page failed: ${errorOutput.replace(/\s+/g, ' ').trim()}`));
    });
  });
}

/** Concurrent builds have the same result; a failure to replace the other's is ignored. */
async function replace(outDir: string, fresh: string): Promise<void> {
  const old = `${fresh}-old`;
  await rename(outDir, old).catch(() => undefined);
  try {
    await rename(fresh, outDir);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  } finally {
    await rm(old, { recursive: true, force: true });
  }
}

/** Digest of every file in `web` and `clients`, whose modules the page imports, and of the lock file. */
function digestOfSources(): string {
  const digest = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')));
  const files = [WEB, join(ROOT, 'clients'), join(ROOT, 'core/conversions/formats')]
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile());
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort())
    digest.update(`${path.slice(ROOT.length)}\0`).update(readFileSync(path));
  return digest.digest('hex');
}
