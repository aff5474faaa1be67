import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { startServer } from '../../bench/processes.ts';
import { takeCrashReports } from '../support/crash-reports.ts';
import { freePort } from '../support/free-port.ts';
import { processes } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const PROCESSES = resolve(import.meta.dirname, '../../bench/processes.ts');
/** Says its number and serves. */
const SERVE = `process.stderr.write(process.pid + '\\n');
  require('node:http').createServer((_, response) => response.end()).listen(Number(process.argv[1]), '127.0.0.1');`;

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

/** One that has ended counts as such before anybody has asked for its exit code. */
const isRunning = async (pid: number) => {
  const row = (await processes()).find((one) => one.pid === pid);
  return row !== undefined && !row.command.endsWith('<defunct>');
};

/** A process that starts a server and then does something. Gives it, and the number of its server. */
async function startStarter(then: string): Promise<{ starter: ChildProcess; server: number }> {
  const port = await freePort();
  const script = `const { startServer } = await import(${JSON.stringify(PROCESSES)});
    await startServer([process.execPath, '-e', ${JSON.stringify(SERVE)}, '${port}'], { port: ${port}, folder: ${JSON.stringify(folder)} });
    console.log('started');
    ${then}`;
  const starter = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  starter.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await once(starter.stdout, 'data');
  return { starter, server: Number(/^\d+$/m.exec(said)?.[0]) };
}

it.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'] as const)('ends its servers on %s', async (signal) => {
  const { starter, server } = await startStarter('setInterval(() => undefined, 1000);');
  expect(await isRunning(server)).toBe(true);
  starter.kill(signal);
  await once(starter, 'exit');
  await expect.poll(() => isRunning(server)).toBe(false);
  if (signal !== 'SIGKILL') await expect(readdir(folder)).rejects.toThrow('ENOENT');
});

it('ends its servers when it throws', async () => {
  const { starter, server } = await startStarter(`throw new Error('the next one does not start');`);
  if (starter.exitCode === null) await once(starter, 'exit');
  expect(starter.exitCode).toBe(1);
  expect(takeCrashReports()).toEqual([expect.stringContaining('the next one does not start')]);
  await expect.poll(() => isRunning(server)).toBe(false);
});

it.each([
  ['ends at once', process.execPath, ['-e', 'process.exit(3)']],
  ['is not there', '/no/such/program', []],
])('cleans up after a server that %s', async (_, command, args) => {
  await expect(startServer([command, ...args], { port: await freePort(), folder })).rejects.toThrow();
  await expect(readdir(folder)).rejects.toThrow('ENOENT');
});
