import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isRunning } from '../support/processes.ts';
import { Started } from '../support/started.ts';
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

/** The ids of the runs of its program so far. */
const pidsOf = ({ lines }: Started) => lines.flatMap((line) => Number(/^pid (\d+)$/.exec(line)?.[1]) || []);
const logOf = ({ errors }: Started) => errors.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
/** The process id of the nth run of the program, from 1. */
async function runOf(started: Started, count = 1): Promise<number> {
  await expect.poll(() => pidsOf(started).length).toBeGreaterThanOrEqual(count);
  return pidsOf(started)[count - 1] ?? 0;
}
const startCommand = (...command: readonly [string, ...string[]]) => {
  const started = new Started(folder, { LOG_FORMAT: 'json' }, command);
  const exited = once(started.process, 'exit');
  onTestFinished(async () => {
    started.process.kill('SIGKILL');
    await exited;
    for (const pid of pidsOf(started)) if (isRunning(pid)) process.kill(pid, 'SIGKILL');
    await started.ended;
  });
  return Object.assign(started, { exited });
};
const supervise = (...args: string[]) => startCommand(process.execPath, join(folder, 'start.mjs'), ...args);

const hasEnded = (pid: number) => expect.poll(() => isRunning(pid)).toBe(false);

describe('supervise', () => {
  it.each(['SIGKILL', 'SIGSEGV'])('restarts a program that is ended by %s, and logs why', async (signal) => {
    const supervised = supervise('1', 'lives');
    const first = await runOf(supervised);
    process.kill(first, signal);
    expect(await runOf(supervised, 2)).not.toBe(first);
    const line = { level: 50, time: expect.any(String), msg: 'Service exited unexpectedly; restarting' };
    expect(logOf(supervised)).toEqual([{ ...line, crashes: 1, restartInMs: 1, exitCode: null, signal }]);
  });

  it('doubles the delay with each crash, up to its maximum', async () => {
    const supervised = supervise('1', 'exits', '70');
    await runOf(supervised, 5);
    expect(
      logOf(supervised)
        .slice(0, 4)
        .map(({ restartInMs }) => restartInMs),
    ).toEqual([1, 2, 4, 4]);
    expect(logOf(supervised)[0]).toMatchObject({ exitCode: 70, signal: null });
  });

  it.each([0, 1])('ends with a program that exits with %i at its first start', async (code) => {
    const supervised = supervise('1', 'exits', String(code));
    expect(await supervised.ended).toBe(code);
    expect(pidsOf(supervised)).toHaveLength(1);
    expect(logOf(supervised)).toEqual([]);
  });

  it('restarts a program that exits with 1 after a crash', async () => {
    const supervised = supervise('1', 'failsTwice', join(folder, 'failed'));
    await runOf(supervised, 3);
    expect(logOf(supervised).map(({ exitCode }) => exitCode)).toEqual([70, 1]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('ends its program on %s, and then itself', async (signal) => {
    const supervised = supervise('1', 'lives');
    const pid = await runOf(supervised);
    supervised.process.kill(signal);
    await supervised.exited;
    expect(isRunning(pid)).toBe(false);
    expect(pidsOf(supervised)).toHaveLength(1);
  });

  it('ends at once on SIGTERM while it waits for a restart', async () => {
    const supervised = supervise('600000', 'exits', '70');
    await expect.poll(() => logOf(supervised).length).toBe(1);
    supervised.process.kill('SIGTERM');
    expect(await supervised.ended).toBe(143);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('ends its program when the npm that runs it gets %s', async (signal) => {
    const npm = startCommand('npm', 'start');
    const pid = await runOf(npm);
    npm.process.kill(signal);
    await npm.exited;
    await hasEnded(pid);
  });

  it('ends its program when its parent is killed', async () => {
    const parent = startCommand(
      process.execPath,
      '-e',
      `require('child_process').spawn(process.execPath, ['start.mjs', '1', 'lives'], { stdio: 'inherit' })`,
    );
    const pid = await runOf(parent);
    parent.process.kill('SIGKILL');
    await hasEnded(pid);
  });
});
