import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startLinkProcesses } from '../../../core/tools/worker/link-processes.ts';
import { startWorker, type WorkerProcess } from '../../../core/tools/worker/worker-process.ts';
import { descendantsOf } from '../../support/processes.ts';
import { startYtDlpFixture, until } from './yt-dlp-fixture.ts';

const fixture = await startYtDlpFixture();
const { requestOf, temporary } = fixture;
const MARKER = 'reelay-left-behind';
/** Both accept every connection. */
const server = createServer((socket) => socket.destroy());
const localServer = createServer((socket) => socket.destroy());
const socketPath = join(temporary, 'server.sock');
const state = join(temporary, 'state.db');

beforeAll(async () => {
  await writeFile(state, 'secret');
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await once(localServer.listen(socketPath), 'listening');
});
afterAll(async () => {
  await Promise.all([once(server.close(), 'close'), once(localServer.close(), 'close')]);
  await rm(state);
});

/** Version of the kernel's interface. */
let landlock: number | undefined;
const LANDLOCK_WITH_SCOPES = 6;

/** What a hostile extractor could do. */
async function attempt(worker: WorkerProcess): Promise<Record<string, string>> {
  const { port } = server.address() as AddressInfo;
  const given = { state, outside: join(temporary, 'outside'), server: port, socketPath, marker: MARKER };
  const answer = await worker.request(requestOf(`reelay-hostile:${encodeURIComponent(JSON.stringify(given))}`));
  if (!('info' in answer)) throw new Error(JSON.stringify(answer));
  return JSON.parse(String(answer.info.title));
}

const DONE = [
  'write a temporary file',
  'write into the cache',
  'execute the JavaScript runtime',
  'connect to the proxy',
];

describe.runIf(process.platform === 'linux').each([
  ['a fork of the worker', startWorker, ['leave processes behind']],
  ['a process per link', startLinkProcesses, ['leave processes behind', 'write into its home']],
] as const)('%s with a hostile extractor', (_, start, alsoDone) => {
  let worker: WorkerProcess;
  beforeAll(async () => {
    worker = await start(fixture.options);
  });
  afterAll(() => worker.close());

  it('keeps to its files, its proxy and its processes', async ({ skip }) => {
    // A process per link does not say what the system has.
    landlock ??= worker.sandbox?.landlock ?? 0;
    skip(landlock < LANDLOCK_WITH_SCOPES, 'the kernel lacks a part of Landlock');
    const outcomes = await attempt(worker);
    const done = Object.keys(outcomes).filter((name) => outcomes[name] === 'done');
    expect(done.sort()).toEqual([...DONE, ...alsoDone].sort());
    const refusals = new Set(Object.values(outcomes).filter((outcome) => outcome !== 'done'));
    expect([...refusals].sort()).toEqual(['EACCES', 'EPERM']);
  });

  it('leaves no process behind', () =>
    until(async () => (await descendantsOf(1)).every(({ command }) => !command.includes(MARKER))));
});
