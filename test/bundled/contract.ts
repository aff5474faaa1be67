/** The contract suite against the bundles. Arguments go to vitest. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { startBundledFixture } from './bundled-fixture.ts';

const VITEST = resolve(import.meta.dirname, '../../node_modules/.bin/vitest');
const SUITE = 'test/contract';
/** Counts the requests that the instance has served, so no other file may run beside it. */
const COUNTING_FILE = 'test/contract/app.test.ts';
const WORKERS = 3;

// The instance has to know every media origin before it starts: one port for each worker.
const ports = await Promise.all(Array.from({ length: WORKERS }, freePort));
const fixture = await startBundledFixture({ originHosts: ports.map((port) => `127.0.0.1:${port}`) });
try {
  const narrowed = process.argv.slice(2);
  if (narrowed.length > 0) process.exitCode = await runVitest(narrowed);
  else process.exitCode = (await runVitest([COUNTING_FILE])) || (await runVitest([SUITE, '--exclude', COUNTING_FILE]));
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
