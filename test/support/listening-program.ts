import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { vi } from 'vitest';
import { closeAfterwards } from './close-afterwards.ts';
import { closesOnce } from './listen.ts';

/**
 * Starts a program that listens, until its test or the tests of the file have ended.
 * @param home the folder for files of its own
 * @param ask rejects until the program answers
 */
export async function startListening(
  program: string,
  args: readonly string[],
  home: string,
  ask: () => Promise<unknown>,
) {
  const env = { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home };
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const close = closesOnce(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  closeAfterwards({ close });
  const isUp = async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended: ${log}`);
    await ask();
  };
  await vi.waitFor(isUp, { timeout: 60_000 });
  return { close };
}

/** Whether something listens at a port of loopback, as `startListening` asks it. */
export const acceptsAt = (port: number) => async () => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
};
