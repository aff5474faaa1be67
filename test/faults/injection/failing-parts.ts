import { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { startYtDlp } from '@reelay/yt-dlp-worker';
import type { Egress } from '../../../core/egress/index.ts';
import { createProxyPool } from '../../../core/egress/proxy-pool.ts';
import { UpstreamError } from '../../../core/errors/index.ts';
import { silentLog } from '../../../core/log/index.ts';
import type { ResolverOptions } from '../../../core/resolve/create-resolver.ts';
import type { StateStorage } from '../../../core/state/index.ts';
import { createAddressGuard } from '../../../packages/guarded-fetch/src/address-guard.ts';
import { createDialer, type Dialer } from '../../../packages/guarded-fetch/src/dial.ts';
import { createForwardProxy } from '../../../packages/guarded-fetch/src/forward-proxy.ts';
import { createGuardedClient } from '../../../packages/guarded-fetch/src/guarded-client.ts';
import { afterFile } from '../../support/after-file.ts';
import type { FaultInjector } from './fault-injector.ts';

const systemError = (code: string) => Object.assign(new Error(code), { code });

/** Resolves every name to this machine. */
const LOOPBACK = [{ address: '127.0.0.1', family: 4 }];

/** The egress, whose lookups, connections, reads and writes fail. @param allow `host:port` pairs */
export function createFailingEgress({ effect }: FaultInjector, allow: readonly string[]): Egress {
  const inner = createDialer({
    guard: createAddressGuard(allow),
    lookup: async () => {
      if (effect('lookup')) throw systemError('EAI_AGAIN');
      return LOOPBACK;
    },
  });
  const dialer: Dialer = {
    resolve: inner.resolve,
    connect: async (destination) => {
      if (effect('connect')) throw new UpstreamError('Connection failed', { cause: systemError('ECONNREFUSED') });
      return failIo(await inner.connect(destination), effect);
    },
  };
  const client = createGuardedClient({ dialer });
  const forwardProxy = createForwardProxy({ dialer });
  return {
    ...createProxyPool([], silentLog),
    replaceProxies: () => undefined,
    request: client.request,
    openProxySession: async (options) => {
      if (effect('proxy session')) throw new UpstreamError('No proxy session');
      return forwardProxy.openSession(options);
    },
    close: async () => {
      await Promise.all([client.close(), forwardProxy.close()]);
    },
  };
}

/** Makes the reads and writes of a socket fail. */
function failIo(socket: Socket, effect: FaultInjector['effect']): Socket {
  const push = socket.push.bind(socket);
  const write = socket._write.bind(socket);
  const reset = () => void socket.destroy(systemError('ECONNRESET'));
  return Object.assign(socket, {
    push(chunk: Buffer | null) {
      if (chunk === null || !effect('read')) return push(chunk);
      reset();
      return false;
    },
    _write(...args: Parameters<Socket['_write']>) {
      if (!effect('write')) return write(...args);
      args[2](systemError('EPIPE'));
    },
    _writev: undefined,
  });
}

/** A table whose calls fail. */
export function createFailingStorage({ effect }: FaultInjector, storage: StateStorage): StateStorage {
  const failing = Object.entries(storage).map(([name, original]) => [
    name,
    async (...args: unknown[]) => {
      if (effect(`table ${name}`)) throw new Error(`${name} failed`);
      return (original as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  return Object.fromEntries(failing);
}

/** Starts yt-dlp, whose requests fail. */
export const createFailingStart =
  ({ effect }: FaultInjector): NonNullable<ResolverOptions['start']> =>
  async (mode, options) => {
    const worker = await startYtDlp(mode, options);
    return {
      ...worker,
      request: async (request, signal) =>
        effect('request to yt-dlp')
          ? { id: '', ok: false, error: { kind: 'network', message: 'The fork failed' } }
          : worker.request(request, signal),
    };
  };

interface Stdio {
  readonly handle?: { close(): void };
}

/** What `child_process` calls; missing in its types. */
interface Spawned {
  readonly _handle: {
    spawn(file: string, args: unknown, cwd: unknown, env: unknown, stdio: Stdio[], ...rest: unknown[]): number;
  };
  spawn(options: unknown): unknown;
}

/** How starts fail: Node throws, or emits `error` for a child without streams, or with streams that are at their end. */
const START_ERRORS = [constants.errno.ENOMEM, constants.errno.EMFILE, constants.errno.EAGAIN];

function failStart(handle: Spawned['_handle'], error = constants.errno.EAGAIN): void {
  const spawn = handle.spawn.bind(handle);
  handle.spawn = (_file, args, cwd, env, stdio, ...rest) => {
    if (error === constants.errno.EAGAIN) spawn('/nonexistent', args, cwd, env, stdio, ...rest);
    // Node does not close these, which the check for open handles would count.
    if (error === constants.errno.EMFILE) for (const { handle: pipe } of stdio) pipe?.close();
    return -error;
  };
}

/**
 * Makes starts of child processes fail, of whatever program, until the end of the file. Every start in this process passes
 * through the one method.
 * @returns kills every child process that runs, and resolves when their ends have been reported
 */
export function failStarts({ effect }: Pick<FaultInjector, 'effect'>): () => Promise<void> {
  const running = new Set<ChildProcess>();
  const prototype = ChildProcess.prototype as unknown as Spawned;
  const { spawn } = prototype;
  let failed = 0;
  prototype.spawn = function (this: Spawned & ChildProcess, options) {
    if (effect('start of a process')) failStart(this._handle, START_ERRORS[failed++ % START_ERRORS.length]);
    running.add(this);
    this.once('exit', () => running.delete(this));
    return spawn.call(this, options);
  };
  afterFile(() => {
    prototype.spawn = spawn;
  });
  return async () => {
    const killed = [...running].filter(({ pid }) => pid !== undefined);
    const ends = killed.map((child) => new Promise((reported) => child.once('exit', reported)));
    // Not by `kill` of the child, which the service takes for its own.
    for (const { pid } of killed) process.kill(pid as number, 'SIGKILL');
    await Promise.all(ends);
  };
}
