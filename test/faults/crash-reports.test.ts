import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import config from '../../vitest.config.ts';
import { takeCrashReports } from '../support/crash-reports.ts';

const run = (script: string) => once(spawn(process.execPath, ['-e', script], { stdio: 'ignore' }), 'exit');
const REJECT = 'Promise.reject(new Error("Bug"))';

describe('uncaught exceptions', () => {
  it.each([
    ['an exception', 'throw new Error("Bug")'],
    ['a rejection', REJECT],
    ['an exception that a listener logs', `process.on('uncaughtException', () => process.exit(70)); ${REJECT}`],
    [
      'an exception of a process below',
      `require('child_process').spawnSync(process.execPath, ['-e', 'throw new Error("Bug")'])`,
    ],
  ])('of a process that a test starts are reported: %s', async (_what, script) => {
    await run(script);
    expect(takeCrashReports()).toEqual([expect.stringContaining('Error: Bug')]);
    expect(takeCrashReports()).toEqual([]);
  });

  it('that are caught are not reported', async () => {
    // Swallowed on purpose: errors that are caught must not be reported.
    await run('try { throw new Error("Bug") } catch {}; Promise.reject(new Error("Bug")).catch(() => undefined)');
    expect(takeCrashReports()).toEqual([]);
  });

  it('of a test fail the run', () => {
    const { projects = [], ...shared } = config.test ?? {};
    for (const settings of [shared, ...projects])
      expect(settings).not.toHaveProperty('dangerouslyIgnoreUnhandledErrors');
  });
});
