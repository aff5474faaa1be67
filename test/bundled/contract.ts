/** Runs the contract suite against the bundles. Arguments are passed to vitest. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { startBundledFixture } from './bundled-fixture.ts';

const VITEST = resolve(import.meta.dirname, '../../node_modules/.bin/vitest');
const ROOT = resolve(import.meta.dirname, '../..');
/** Counts the requests that the instance has served, so no other file may run beside it. */
const COUNTING_FILE = 'test/contract/app.test.ts';
/** `npm test` runs it beside the other tests. */
const WORKERS = 2;

// The instance has to know every media origin before it starts: one port for each worker.
const ports = await Promise.all(Array.from({ length: WORKERS }, freePort));
const fixture = await startBundledFixture({ originHosts: ports.map((port) => `127.0.0.1:${port}`) });
try {
  const narrowed = process.argv.slice(2);
  // Named one by one: an exclusion on the command line does not reach the projects of the configuration.
  const others = globSync('test/contract/*.test.ts', { cwd: ROOT }).filter((file) => file !== COUNTING_FILE);
  process.exitCode =
    narrowed.length > 0 ? await runVitest(narrowed) : (await runVitest([COUNTING_FILE])) || (await runVitest(others));
} finally {
  await fixture.close();
}

async function runVitest(args: readonly string[]): Promise<number> {
  const suite = spawn(VITEST, ['run', `--maxWorkers=${WORKERS}`, ...args], {
    stdio: 'inherit',
    env: { ...process.env, REELAY_BASE_URL: fixture.baseUrl, REELAY_ORIGIN_PORTS: ports.join(',') },
  });
  const [code] = await once(suite, 'exit');
  return code ?? 1;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
