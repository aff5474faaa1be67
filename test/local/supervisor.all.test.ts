import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isRunning } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SUPERVISOR = resolve(import.meta.dirname, '../../local/supervisor.mjs');

/** Prints its process id, then acts as its first argument says; `lives` ends on SIGTERM only. */
const PROGRAM = `
  import { existsSync, writeFileSync } from 'node:fs';
  process.stdout.write('pid ' + process.pid + '\\n');
  const [behaviour, argument] = process.argv.slice(2);
  const live = () => setInterval(() => undefined, 1000);
  const behaviours = {
    lives: live,
    exits: () => process.exit(Number(argument)),
    // With 70, then with 1, then not.
    failsTwice: () => {
      const code = [70, 1].find((each) => !existsSync(argument + each));
      if (!code) return live();
      writeFileSync(argument + code, '');
      process.exit(code);
    },
  };
  behaviours[behaviour]();
`;

const folder = await temporaryFolder();
beforeAll(async () => {
  await writeFile(join(folder, 'program.mjs'), PROGRAM);
  await writeFile(
    join(folder, 'start.mjs'),
    `import { supervise } from ${JSON.stringify(SUPERVISOR)};
     const [backoffMs, ...args] = process.argv.slice(2);
     supervise(process.execPath, [${JSON.stringify(join(folder, 'program.mjs'))}, ...args], {
       restarts: true,
       options: { stdio: 'inherit' },
       backoff: { initialDelayMs: Number(backoffMs), maxDelayMs: Number(backoffMs) * 4 },
     });`,
  );
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, scripts: { start: 'node start.mjs 60000 lives' } }),
  );
});

/** A started command, and the programs that its supervisor has run so far. */
class Supervised {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown[]>;
  readonly log: Record<string, unknown>[] = [];
  readonly pids: number[] = [];

  constructor(command: string, args: readonly string[]) {
    this.process = spawn(command, args, {
      env: { ...process.env, LOG_FORMAT: 'json' },
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.ended = once(this.process, 'exit');
    const { stdout, stderr } = this.process;
    if (!stdout || !stderr) throw new Error('No output');
    createInterface(stdout).on('line', (line) => {
      const [, pid] = /^pid (\d+)$/.exec(line) ?? [];
      if (pid) this.pids.push(Number(pid));
    });
    createInterface(stderr).on('line', (line) => line.startsWith('{') && this.log.push(JSON.parse(line)));
  }

  /** The process id of the nth run of the program, from 1. */
  async run(count: number): Promise<number> {
    await expect.poll(() => this.pids.length).toBeGreaterThanOrEqual(count);
    return this.pids[count - 1] ?? 0;
  }
}

const hasEnded = (pid: number) => expect.poll(() => isRunning(pid)).toBe(false);

const started: Supervised[] = [];
const start = (command: string, ...args: string[]): Supervised => {
  const one = new Supervised(command, args);
  started.push(one);
  return one;
};
const supervise = (...args: string[]) => start(process.execPath, join(folder, 'start.mjs'), ...args);

afterEach(async () => {
  for (const { process: child, pids, ended } of started.splice(0)) {
    child.kill('SIGKILL');
    await ended;
    for (const pid of pids) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  }
});

describe('supervise', () => {
  it.each(['SIGKILL', 'SIGSEGV'])('restarts a program that is ended by %s, and logs why', async (signal) => {
    const supervised = supervise('1', 'lives');
    const first = await supervised.run(1);
    process.kill(first, signal);
    expect(await supervised.run(2)).not.toBe(first);
    const line = { level: 50, time: expect.any(String), msg: 'Service exited unexpectedly; restarting' };
    expect(supervised.log).toEqual([{ ...line, crashes: 1, restartInMs: 1, exitCode: null, signal }]);
  });

  it('doubles the delay with each crash, up to its maximum', async () => {
    const supervised = supervise('1', 'exits', '70');
    await supervised.run(5);
    expect(supervised.log.slice(0, 4).map(({ restartInMs }) => restartInMs)).toEqual([1, 2, 4, 4]);
    expect(supervised.log[0]).toMatchObject({ exitCode: 70, signal: null });
  });

  it.each([0, 1])('ends with a program that exits with %i at its first start', async (code) => {
    const supervised = supervise('1', 'exits', String(code));
    expect(await supervised.ended).toEqual([code, null]);
    expect(supervised.pids).toHaveLength(1);
    expect(supervised.log).toEqual([]);
  });

  it('restarts a program that exits with 1 after a crash', async () => {
    const supervised = supervise('1', 'failsTwice', join(folder, 'failed'));
    await supervised.run(3);
    expect(supervised.log.map(({ exitCode }) => exitCode)).toEqual([70, 1]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends its program on %s, and then itself', async (signal) => {
    const supervised = supervise('1', 'lives');
    const pid = await supervised.run(1);
    supervised.process.kill(signal);
    await supervised.ended;
    expect(isRunning(pid)).toBe(false);
    expect(supervised.pids).toHaveLength(1);
  });

  it('ends at once on SIGTERM while it waits for a restart', async () => {
    const supervised = supervise('600000', 'exits', '70');
    await expect.poll(() => supervised.log.length).toBe(1);
    supervised.process.kill('SIGTERM');
    expect(await supervised.ended).toEqual([143, null]);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('ends its program when the npm that runs it gets %s', async (signal) => {
    const npm = start('npm', 'start');
    const pid = await npm.run(1);
    npm.process.kill(signal);
    await npm.ended;
    await hasEnded(pid);
  });

  it('ends its program when its parent is killed', async () => {
    const parent = start(
      process.execPath,
      '-e',
      `require('child_process').spawn(process.execPath, ['start.mjs', '1', 'lives'], { stdio: 'inherit' })`,
    );
    const pid = await parent.run(1);
    parent.process.kill('SIGKILL');
    await hasEnded(pid);
  });
});
