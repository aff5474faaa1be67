/**
 * Runs the contract suite against what is deployed: what bundles or a container could break. The code behind it is the one
 * that the whole suite tests from its sources. Arguments are passed to vitest instead, for the bundles alone, or with
 * `--container` first for the container for one machine.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { startContractContainer } from '../images/one-machine-image.ts';
import { containersUnavailable } from '../images/programs.ts';
import { takeCrashReports, watchCrashes } from '../support/crash-reports.ts';
import { freePort } from '../support/free-port.ts';
import { startBundledFixture } from './bundled-fixture.ts';

const VITEST = resolve(import.meta.dirname, '../../node_modules/.bin/vitest');
/** What any packaging could break: every operation, files and ranges, FFmpeg, yt-dlp. `app` counts requests. */
const FILES = ['app', 'media', 'operations'];
/** The functions have an HTTP layer of their own, and load parts late. */
const FILES_OF_BUNDLES = [...FILES, 'details', 'http', 'mcp', 'openapi'];

interface Instance {
  readonly baseUrl: string;
  close(): Promise<void>;
}

watchCrashes();
// The instance has to know the media origin before it starts.
const port = await freePort();
const originHosts = [`127.0.0.1:${port}`];
const [first, ...others] = process.argv.slice(2);
const isContainerOnly = first === '--container';
const narrowed = isContainerOnly ? others : process.argv.slice(2);

if (!isContainerOnly) await check(await startBundledFixture({ originHosts }), FILES_OF_BUNDLES);
if (containersUnavailable) process.stdout.write(`No container for one machine: ${containersUnavailable}\n`);
else if (isContainerOnly || narrowed.length === 0) await check(await startContractContainer(originHosts), FILES);

/** The first failure sets the exit code. */
async function check(instance: Instance, files: readonly string[]): Promise<void> {
  const args = narrowed.length > 0 ? narrowed : files.map((name) => `test/contract/${name}.test.ts`);
  try {
    process.exitCode ||= await runVitest(instance, args);
  } finally {
    await instance.close();
    for (const report of takeCrashReports()) {
      process.stderr.write(`${report}\n`);
      process.exitCode = 1;
    }
  }
}

/** In one worker: it runs beside the other tests, and `app` would count the requests of another file. */
async function runVitest({ baseUrl }: Instance, args: readonly string[]): Promise<number> {
  const suite = spawn(VITEST, ['run', '--maxWorkers=1', ...args], {
    stdio: 'inherit',
    env: { ...process.env, REELAY_BASE_URL: baseUrl, REELAY_ORIGIN_PORT: String(port) },
  });
  const [code] = await once(suite, 'exit');
  return code ?? 1;
}
