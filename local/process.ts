import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { constants } from 'node:os';
import { parseEnv } from 'node:util';
import type { ShutdownStack } from '@reelay/concurrency';
import { SettingError, settingVariables } from '../core/config/index.ts';
import type { Log } from '../core/log/index.ts';
import type { Terminal } from './terminal.ts';

/** In the working directory. */
const FILE = '.env';

/**
 * Adds the variables of `.env` to an environment. Variables that are set already win, as with `docker compose`.
 * @returns names in the file that are not settings, which may be misspelled
 * @throws SettingError when the file exists but cannot be read
 */
export function loadDotEnv(environment: Record<string, string | undefined> = process.env, file = FILE): string[] {
  const variables = parseEnv(read(file));
  for (const [name, value] of Object.entries(variables)) environment[name] ??= value;
  const settings = settingVariables();
  return Object.keys(variables).filter((name) => !settings.has(name));
}

function read(file: string): string {
  try {
    // Editors of Windows begin it with a byte order mark.
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new SettingError(`${file} cannot be read (${code})`, { cause });
  }
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?|\[?::ffff:127(?:\.\d{1,3}){3}\]?)$/i;

/** Whether a host is this machine alone. */
export const isLoopback = (host: string): boolean => LOOPBACK.test(host);

/** A host as it is written in URLs. */
export const addBrackets = (host: string): string => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

export interface Address {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** The setting that changes the port, for the message when it is taken. */
  readonly variable?: string;
  /** Pending connections. @default Node's */
  readonly backlog?: number;
}

/** @throws Error with a message for the operator when the address is taken or cannot be used */
export async function listen(server: Server, { variable, ...address }: Address): Promise<void> {
  const { host, port } = address;
  const listening = once(server, 'listening');
  server.listen(address);
  try {
    await listening;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new Error(
      code !== 'EADDRINUSE'
        ? `The address ${host}:${port} cannot be used: ${message}`
        : variable === undefined
          ? `The address ${host}:${port} is taken`
          : `Port ${port} is taken: set ${variable}=${await findFreePort(host, port + 1)}`,
      { cause: error },
    );
  }
}

const MAX_PORT = 65_535;
/** Beyond these the system chooses one. */
const MAX_TRIED_PORTS = 20;

/** @returns this port or the next one that is free; 0, for any, where the next ones are taken */
export async function findFreePort(host: string, first: number): Promise<number> {
  for (let port = first; port < Math.min(first + MAX_TRIED_PORTS, MAX_PORT + 1); port++) {
    const server = createServer();
    try {
      await listen(server, { host, port });
      return port;
    } catch {
      // The next one.
    } finally {
      server.close();
    }
  }
  return 0;
}

const PARENT_CHECK_INTERVAL_MS = 1_000;
/** A signal to all processes of a terminal or unit arrives again from npm and the supervisor, which pass on theirs. */
const REPETITION_MS = 1_000;

/**
 * Ends the process in order on SIGINT, SIGTERM and SIGHUP, and when the supervisor that started it has ended
 * (`local/supervisor.mjs`). The first signal lets running streams finish within the drain time, another one a second later exits at
 * once.
 */
export function shutdownOnSignals(terminal: Terminal, close: () => Promise<void>): void {
  let startedAt: number | undefined;
  const shutDown = async () => {
    startedAt = performance.now();
    terminal.done();
    terminal.say('Shutting down after running streams finish; repeat to exit at once');
    await close();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      if (startedAt === undefined) void shutDown();
      else if (performance.now() - startedAt > REPETITION_MS) process.exit(128 + constants.signals[signal]);
    });
  whenSupervisorEnds(() => {
    if (startedAt === undefined) void shutDown();
  });
}

/** Calls back once this process has another parent: its supervisor was killed, and nothing else would stop this process. */
function whenSupervisorEnds(callback: () => void): void {
  const supervisor = Number(process.env.REELAY_SUPERVISOR_PID);
  if (!supervisor) return;
  const timer = setInterval(() => {
    if (process.ppid === supervisor) return;
    clearInterval(timer);
    callback();
  }, PARENT_CHECK_INTERVAL_MS);
  timer.unref();
}

/** What the optional parts of the service need of it. */
export interface HostParts {
  /** With a `v`. */
  readonly version: string;
  readonly log: Log;
  readonly shutdown: ShutdownStack;
}
