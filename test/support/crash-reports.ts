import { ChildProcess } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Of this process: a child of one file that ends during the next one is still reported. */
const REPORTS = join(tmpdir(), `reelay-crashes-${process.pid}`);

/** What `child_process` passes to a new process; missing in its types. */
interface SpawnOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly envPairs: string[];
}

/**
 * Makes each Node process that is started from now on report its uncaught exceptions and rejections, and those that it
 * starts. Not reported are processes with an empty environment: the service expects and survives their end.
 */
export function watchCrashes(): void {
  const prototype = ChildProcess.prototype as ChildProcess & { spawn(options: SpawnOptions): unknown };
  const { spawn } = prototype;
  if (spawn.name === 'spawnWatched') return;
  prototype.spawn = function spawnWatched(this: ChildProcess, options: SpawnOptions) {
    if (isWatched(options)) preload(options.envPairs);
    return spawn.call(this, options);
  };
}

/** Adds a report about a process that has no access to the files of this machine. */
export const reportCrash = (text: string): void => appendFileSync(REPORTS, `${JSON.stringify(text)}\n`);

const isWatched = ({ file, envPairs }: SpawnOptions): boolean =>
  /^(?:node|npm|sh)$/.test(basename(file)) && envPairs.length > 0;

function preload(environment: string[]): void {
  const module = pathToFileURL(resolve(import.meta.dirname, 'report-crash.mjs'));
  module.searchParams.set('file', REPORTS);
  const index = environment.findIndex((pair) => pair.startsWith('NODE_OPTIONS='));
  const [before = 'NODE_OPTIONS='] = index < 0 ? [] : environment.splice(index, 1);
  environment.push(`${before} --import=${module.href}`);
}

/** Returns the reports so far and removes them: a test that makes a process crash takes its report. */
export function takeCrashReports(): readonly string[] {
  if (!existsSync(REPORTS)) return [];
  const lines = readFileSync(REPORTS, 'utf8').trimEnd().split('\n');
  rmSync(REPORTS);
  return lines.map((line) => JSON.parse(line));
}
