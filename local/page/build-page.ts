import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const WEB = join(ROOT, 'web');
/** Names what the folder was built from. */
const STAMP = '.built-from';
/** What is said of a build that failed. */
const TOLD_CHARACTERS = 500;

export interface BuildPageOptions {
  /** @default dist/web */
  readonly outDir?: string;
  /** Ends a build that runs; nothing of it stays. */
  readonly signal?: AbortSignal;
}

/**
 * Puts the built page into a folder, unless what is there was built from these very sources. In a process of its own:
 * what a build takes is given back, and nothing else waits for it. A folder that is being read is replaced as a whole.
 * @returns the folder
 * @throws Error in one line when it cannot be built
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

/** The command that makes the complete folder: whoever deploys runs the same. */
function runVite(outDir: string, signal?: AbortSignal): Promise<void> {
  const vite = join(dirname(createRequire(import.meta.url).resolve('vite/package.json')), 'bin/vite.js');
  const args = [vite, 'build', '--config', join(WEB, 'vite.config.ts'), '--configLoader', 'native'];
  const child = spawn(process.execPath, [...args, '--outDir', outDir, '--logLevel', 'error'], {
    cwd: ROOT,
    // Whatever this process runs as: the page is built to be used.
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'pipe'],
    ...(signal && { signal }),
  });
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told = (told + text).slice(0, TOLD_CHARACTERS);
  });
  return new Promise((done, fail) => {
    let failure: Error | undefined;
    child.once('error', (error) => {
      failure = error;
    });
    // Not before it has ended: it must not write into a folder that is being removed.
    child.once('close', (code) => {
      if (code === 0) done();
      else fail(failure ?? new Error(`The page could not be built: ${told.replace(/\s+/g, ' ').trim()}`));
    });
  });
}

/** Two that build at once build the same: the later one takes the place of the earlier. */
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

/** Of every file below `web` and of the versions that it is built with. */
function digestOfSources(): string {
  const digest = createHash('sha256').update(readFileSync(join(ROOT, 'package-lock.json')));
  const files = readdirSync(WEB, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  for (const path of files.map(({ parentPath, name }) => join(parentPath, name)).sort())
    digest.update(`${path.slice(WEB.length)}\0`).update(readFileSync(path));
  return digest.digest('hex');
}
