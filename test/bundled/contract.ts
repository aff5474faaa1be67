/**
 * Runs the contract suite against what is deployed: all of it against the bundles, and the core of it against the container
 * for one machine. Arguments are passed to vitest, for the bundles alone, or with `--container` first for the container.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { startContractContainer } from '../images/one-machine-image.ts';
import { containersUnavailable } from '../images/programs.ts';
import { takeCrashReports, watchCrashes } from '../support/crash-reports.ts';
import { freePort } from '../support/free-port.ts';
import { startBundledFixture } from './bundled-fixture.ts';

const VITEST = resolve(import.meta.dirname, '../../node_modules/.bin/vitest');
const ROOT = resolve(import.meta.dirname, '../..');
/** Counts the requests that the instance has served, so no other file may run beside it. */
const COUNTING_FILE = 'test/contract/app.test.ts';
/** What a container could break: start, page and API on one port, direct files and ranges, FFmpeg, yt-dlp. */
const CORE_FILES = ['media', 'openapi', 'details'].map((name) => `test/contract/${name}.test.ts`);
/** `npm test` runs it beside the other tests. */
const WORKERS = 2;

interface Instance {
  readonly baseUrl: string;
  close(): Promise<void>;
}

watchCrashes();
// The instance has to know every media origin before it starts: one port for each worker.
const ports = await Promise.all(Array.from({ length: WORKERS }, freePort));
const originHosts = ports.map((port) => `127.0.0.1:${port}`);
const [first, ...others] = process.argv.slice(2);
const isContainerOnly = first === '--container';
const narrowed = isContainerOnly ? others : process.argv.slice(2);

if (!isContainerOnly) await check(await startBundledFixture({ originHosts }), narrowed, allFiles());
if (containersUnavailable) process.stdout.write(`No container for one machine: ${containersUnavailable}\n`);
else if (isContainerOnly || narrowed.length === 0)
  await check(await startContractContainer(originHosts), narrowed, CORE_FILES);

/** Runs the narrowed suite, or the counting file and then the others; the first failure sets the exit code. */
async function check(instance: Instance, narrowed: readonly string[], files: readonly string[]): Promise<void> {
  try {
    for (const args of narrowed.length > 0 ? [narrowed] : [[COUNTING_FILE], files])
      process.exitCode ||= await runVitest(instance, args);
  } finally {
    await instance.close();
    for (const report of takeCrashReports()) {
      process.stderr.write(`${report}\n`);
      process.exitCode = 1;
    }
  }
}

/** Named one by one: an exclusion on the command line does not reach the projects of the configuration. */
function allFiles(): string[] {
  return globSync('test/contract/*.test.ts', { cwd: ROOT }).filter((file) => file !== COUNTING_FILE);
}

async function runVitest({ baseUrl }: Instance, args: readonly string[]): Promise<number> {
  const suite = spawn(VITEST, ['run', `--maxWorkers=${WORKERS}`, ...args], {
    stdio: 'inherit',
    env: { ...process.env, REELAY_BASE_URL: baseUrl, REELAY_ORIGIN_PORTS: ports.join(',') },
  });
  const [code] = await once(suite, 'exit');
  return code ?? 1;
}
