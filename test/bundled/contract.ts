/** The contract suite against the bundles. Arguments go to vitest. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { startBundledInstance } from './instance.ts';

const VITEST = resolve(import.meta.dirname, '../../node_modules/.bin/vitest');

const port = await freePort();
const instance = await startBundledInstance({ originHost: `127.0.0.1:${port}` });
try {
  // One file at a time: each has the origin's one port for itself.
  const suite = spawn(VITEST, ['run', 'test/contract', '--no-file-parallelism', ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, REELAY_BASE_URL: instance.baseUrl, REELAY_ORIGIN_PORT: String(port) },
  });
  const [code] = await once(suite, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await instance.close();
}

/** The instance has to know it before the suite's origin listens on it. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
