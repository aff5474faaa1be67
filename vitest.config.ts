import { defineConfig } from 'vitest/config';
import LongestFirstSequencer from './test/support/longest-first-sequencer.ts';
import { filesWithoutProgram } from './test/support/programs.ts';

/** Tests that start no process and open no socket (test/support/unit-setup.ts enforces it): fast, and safe to run in one worker. */
export const UNIT_TESTS = ['{test,packages}/**/*.unit.test.ts'];

/** Tests of the page in Chromium. */
const BROWSER_TESTS = 'test/web/browser/**/*.test.ts';

/** Tests that need modules or a process of their own; the reason is beside each. */
export const ISOLATED_TESTS = [
  // Load the entries of the functions again for each environment.
  'test/infra/environment.all.test.ts',
  // Count the child processes of their process, to which a shared service belongs.
  'test/attacks/links.all.test.ts',
  'test/core/parsing/parsing-process.test.ts',
  'test/core/resolve/probe/probe.test.ts',
  'test/faults/killed-processes.all.test.ts',
  // Measure turns of the event loop, which the garbage of other files would make longer.
  'test/attacks/{hostile-mp4,large-inputs,streams}.all.test.ts',
  // Change TMPDIR of their process, in which leftovers of earlier workers are removed once.
  'test/yt-dlp-worker/{worker,link-processes}.all.test.ts',
];

/** What `npm test` leaves to `npm run test:all`, and what this machine lacks a program for. */
const LEFT_OUT = [
  ...(process.env.TEST_PART === 'gate' ? ['**/*.all.test.ts'] : []),
  ...[...filesWithoutProgram().values()].flat(),
];

const SETUP = 'test/support/file-setup.ts';

export default defineConfig({
  test: {
    reporters: ['default', './test/support/slowest-files-reporter.ts', './test/support/missing-programs-reporter.ts'],
    // Real processes share the cores, and half of the time of tests is spent waiting for deadlines and processes: generous
    // bounds, and two workers more than cores. With more, a first resolve beside them exceeds its deadline on two cores.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 4,
    // Buffers of streams are outside of the heap. By default V8 collects the heap for every 64 MB of them, which takes a sixth
    // of the CPU time of tests that stream.
    execArgv: ['--external-memory-accounted-in-global-limit', '--initial-old-space-size=512'],
    sequence: { sequencer: LongestFirstSequencer },
    // What child processes print is compared with text.
    env: { FORCE_COLOR: '0' },
    tags: [{ name: 'any-instance', description: 'Holds for any running instance: npm run verify.' }],
    projects: [
      {
        extends: true,
        // Pure code leaves nothing behind: the files of a worker share its modules.
        test: { name: 'unit', include: UNIT_TESTS, setupFiles: [SETUP, 'test/support/unit-setup.ts'], isolate: false },
      },
      {
        extends: true,
        // The files of a worker share its modules, which take longer to load than many files take; SETUP checks that none
        // leaves anything to the next.
        test: {
          name: 'integration',
          include: ['{test,packages}/**/*.test.ts'],
          exclude: [...UNIT_TESTS, BROWSER_TESTS, ...ISOLATED_TESTS, ...LEFT_OUT],
          setupFiles: [SETUP],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'isolated', include: ISOLATED_TESTS, exclude: LEFT_OUT, setupFiles: [SETUP] },
      },
      {
        extends: true,
        // The files of a worker share one Chromium and one running service.
        test: { name: 'browser', include: [BROWSER_TESTS], exclude: LEFT_OUT, setupFiles: [SETUP], isolate: false },
      },
    ],
  },
});
