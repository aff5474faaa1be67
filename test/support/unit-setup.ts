import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';
import { vi } from 'vitest';

const refuse = (what: string) => () => {
  throw new Error(`A unit test must not ${what}: call the file *.test.ts without "unit"`);
};

Object.assign(childProcess, {
  spawn: refuse('start a process'),
  spawnSync: refuse('start a process'),
  execFile: refuse('start a process'),
  execFileSync: refuse('start a process'),
  fork: refuse('start a process'),
});
net.Server.prototype.listen = refuse('open a socket');
net.Socket.prototype.connect = refuse('open a socket');
syncBuiltinESMExports();

// Made by FFmpeg: a machine that has run other tests has it already, a new one does not.
vi.mock('../origin/media.ts', () => {
  const ensure = () => {
    throw new Error('A unit test must not use made media: call the file *.test.ts, without `unit`');
  };
  return { ensureFolder: ensure, ensureMade: ensure, ensureMedia: ensure };
});
