/**
 * `npm run dev`: the page from a Vite server with live reload, which forwards API requests to a service that restarts
 * when a module of it changes.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createServer } from 'vite';
import { readSettings } from '../core/config/index.ts';
import { messageOf } from '../core/errors/index.ts';
import nodeFlags from '../stream-service/node-flags.json' with { type: 'json' };
import { findFreePort, loadDotEnv, shutdownOnSignals } from './process.ts';
import { createTerminal } from './terminal.ts';

const ROOT = resolve(import.meta.dirname, '..');
const LOOPBACK = '127.0.0.1';
/** Where it is free, else one of the next; the same across restarts of the service. */
const SERVICE_PORT = 8100;

const terminal = createTerminal(process.stdout);
loadDotEnv();
const { host, port } = readSettings(process.env);
const servicePort = await findFreePort(LOOPBACK, SERVICE_PORT);
const service = startWatched(servicePort);
const page = await startPage(`http://${LOOPBACK}:${servicePort}`);
terminal.say(`Reelay in development on ${page.resolvedUrls?.local[0] ?? `http://${host}:${port}`}`);

shutdownOnSignals(terminal, async () => {
  service.kill('SIGTERM');
  await Promise.all([page.close(), hasExited(service)]);
});

/** Node watches the modules that the program imports; what it reads in other ways (Python, JSON data) it does not. */
function startWatched(watchedPort: number): ChildProcess {
  const program = resolve(import.meta.dirname, 'dev-service.ts');
  return spawn(process.execPath, ['--watch', '--watch-preserve-output', ...nodeFlags, program], {
    // Its parent is the process that watches, not the supervisor of this one.
    env: { ...process.env, REELAY_SUPERVISOR_PID: '', HOST: LOOPBACK, PORT: String(watchedPort) },
    stdio: ['ignore', 'inherit', 'inherit'],
    // In a process group of its own: Ctrl-C would reach the service too, which then exits at once on the second signal.
    detached: process.platform !== 'win32',
  });
}

async function startPage(target: string) {
  const server = await createServer({
    configFile: resolve(ROOT, 'web/vite.config.ts'),
    configLoader: 'native',
    cacheDir: resolve(ROOT, 'node_modules/.cache/vite'),
    clearScreen: false,
    logLevel: 'warn',
    server: { host, port, strictPort: true, proxy: { '^/(api|mcp|swagger)': { target } } },
  });
  try {
    return await server.listen();
  } catch (error) {
    service.kill('SIGTERM');
    await hasExited(service);
    terminal.say(messageOf(error));
    process.exit(1);
  }
}

async function hasExited(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
