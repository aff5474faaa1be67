/**
 * Runs as a user of its own: has a hostile extractor try what it must not do, and prints what came of it.
 * `node hostile-program.ts worker|process '{"options", "request"}'`
 */
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLinkProcesses } from '../../packages/yt-dlp-worker/src/worker/link-processes.ts';
import { startWorker } from '../../packages/yt-dlp-worker/src/worker/worker-process.ts';

const [mode, given = ''] = process.argv.slice(2);
const { options, request, marker } = JSON.parse(given);
const dir = await mkdtemp(join(tmpdir(), 'hostile-'));
const state = join(dir, 'state.db');
const socketPath = join(dir, 'server.sock');
await writeFile(state, 'secret', { mode: 0o600 });
/** Both accept every connection. */
const server = createServer((socket) => socket.destroy());
const localServer = createServer((socket) => socket.destroy());
await once(server.listen(0, '127.0.0.1'), 'listening');
await once(localServer.listen(socketPath), 'listening');

const worker = await (mode === 'worker' ? startWorker : startLinkProcesses)(options);
const attempt = async () => {
  const { port } = server.address() as AddressInfo;
  const about = { service: process.pid, state, outside: join(dir, 'outside'), server: port, socketPath, marker };
  const answer = await worker.request({
    ...request,
    url: `reelay-hostile:${encodeURIComponent(JSON.stringify(about))}`,
  });
  if (!('info' in answer)) throw new Error(JSON.stringify(answer));
  return JSON.parse(String(answer.info.title));
};
// The second one finds what the first one has left.
await attempt();
const outcomes = await attempt();
const { mode: stateMode, mtimeMs } = await stat(state);
const after = {
  files: (await readdir(dir)).sort(),
  state: await readFile(state, 'utf8'),
  mode: stateMode & 0o777,
  isOld: mtimeMs < 10_000,
  priority: getPriority(),
};
console.log(JSON.stringify({ outcomes, after, sandbox: worker.sandbox }));
await worker.close();
server.close();
localServer.close();
await rm(dir, { recursive: true });
