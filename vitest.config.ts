import { defineConfig } from 'vitest/config';
import LongestFirstSequencer from './test/support/longest-first-sequencer.ts';

/** Tests that start no process and open no socket (test/support/unit-setup.ts enforces it): fast, and safe to run in one worker. */
export const UNIT_TESTS = [
  'test/clients/{api-types,command-line,list}.test.ts',
  'test/core/api/*.test.ts',
  'test/core/concurrency/*.test.ts',
  'test/core/config/!(cookies-worker|secrets-manager).test.ts',
  'test/core/conversions/*.test.ts',
  'test/core/egress/{address-guard,append-chunk,proxy-pool}.test.ts',
  'test/core/http/*.test.ts',
  'test/core/media/!(segment-probe).test.ts',
  'test/core/media/isobmff/{boxes,fragment-times}.test.ts',
  'test/core/media/mp4-hls/*.test.ts',
  'test/core/media/{subtitles,timed-text}/*.test.ts',
  'test/core/parsing/{extraction,parsing-pool}.test.ts',
  'test/core/resolve/hostile-info.test.ts',
  'test/core/resolve/link/merge-resource.test.ts',
  'test/core/resolve/renditions/*.test.ts',
  'test/core/resolve/yt-dlp/!(extractor|format-fields).test.ts',
  'test/core/spending/*.test.ts',
  'test/core/state/{find-by-key,keys}.test.ts',
  'test/docs/*.test.ts',
  'test/fuzz/fuzz-large.test.ts',
  'test/infra/build/strip-elf.test.ts',
  'test/infra/cli/{cli-plan,container-runtime}.test.ts',
  'test/infra/cost/*.test.ts',
  'test/infra/edge/stale-streams.test.ts',
  'test/infra/{settings,table-rights,wiring}.test.ts',
  'test/lambdas/api/feed/*.test.ts',
  'test/lambdas/access-keys/*.test.ts',
  'test/lambdas/api/{get-resource,playback}.test.ts',
  'test/lambdas/cost-guard/guard.test.ts',
  'test/lambdas/middleware/*.test.ts',
  'test/lambdas/runtime/!(custom-resource|invoker).test.ts',
  'test/lambdas/stream-host/{host-store,host-task,registration,wake-ahead,wake-plan}.test.ts',
  'test/lambdas/tools-update/{plan,switch-release,tools-environment}.test.ts',
  'test/core/tools/{bounded-lines,failure-report,installer,syscall-filter,version-store,versions,worker-client}.test.ts',
  'test/local/{dot-env,process-log,terminal}.test.ts',
  'test/scripts/verify-options.test.ts',
  'test/stream-service/task/byte-budget.test.ts',
  'test/stream-service/outputs/encode/mp3/{block-cache,encoder-slots,layout,ranged-stream,segment-buffer}.test.ts',
  'test/stream-service/outputs/encode/mp3/{segment-clock,split-remaining}.test.ts',
  'test/stream-service/http/round-robin.test.ts',
  'test/stream-service/outputs/*.test.ts',
  'test/stream-service/outputs/mux/{mux-format,peek-source}.test.ts',
  'test/stream-service/sessions/{admission,stream-sessions}.test.ts',
  'test/stream-service/outputs/text/*.test.ts',
  'test/stream-service/source/{attempts,availability-probe,classify-response,range-plan,read-ahead-limits}.test.ts',
  'test/stream-service/task/{dockerfile,idle-timer,metrics,task-settings}.test.ts',
  'test/structure/*.test.ts',
  'test/web/api/{base-url,contract,playlist-counts,validate}.test.ts',
  'test/web/details/*.test.ts',
  'test/web/lib/*.test.ts',
  'test/web/playlist/*.test.ts',
  'test/web/renditions/{choices,clip,format-lists,offers,quality,sentence}.test.ts',
];

/** Tests of the page in Chromium. */
const BROWSER_TESTS = 'test/web/browser/**/*.test.ts';

/** Tests that need modules or a process of their own; the reason is beside each. */
export const ISOLATED_TESTS = [
  // Load the entries of the functions again for each environment.
  'test/infra/environment.test.ts',
  // Count the child processes of their process, to which a shared service belongs.
  'test/attacks/links.test.ts',
  'test/core/parsing/parsing-process.test.ts',
  'test/core/resolve/probe/probe.test.ts',
  'test/faults/killed-processes.test.ts',
  // Measure turns of the event loop, which the garbage of other files would make longer.
  'test/attacks/{hostile-mp4,large-inputs,streams}.test.ts',
  // Change TMPDIR of their process, in which leftovers of earlier workers are removed once.
  'test/core/tools/{worker,link-processes}.test.ts',
];

const SETUP = 'test/support/file-setup.ts';

export default defineConfig({
  test: {
    reporters: ['default', './test/support/slowest-files-reporter.ts'],
    // Real processes share the cores, and half of the time of tests is spent waiting for deadlines and processes: generous
    // bounds, two workers more than cores.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers: 4,
    // Buffers of streams are outside of the heap. By default V8 collects the heap for every 64 MB of them, which takes a sixth
    // of the CPU time of tests that stream.
    execArgv: ['--external-memory-accounted-in-global-limit', '--initial-old-space-size=512'],
    sequence: { sequencer: LongestFirstSequencer },
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
          include: ['test/**/*.test.ts'],
          exclude: [...UNIT_TESTS, BROWSER_TESTS, ...ISOLATED_TESTS],
          setupFiles: [SETUP],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'isolated', include: ISOLATED_TESTS, setupFiles: [SETUP] },
      },
      {
        extends: true,
        // The files of a worker share one Chromium and one running service.
        test: { name: 'browser', include: [BROWSER_TESTS], setupFiles: [SETUP], isolate: false },
      },
    ],
  },
});
