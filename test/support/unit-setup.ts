import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

const refuse = (what: string) => () => {
  throw new Error(`A unit test must not ${what}: move the file to the integration project in vitest.config.ts`);
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
