import { defineConfig } from 'vitest/config';
import LongestFirstSequencer from './test/support/longest-first-sequencer.ts';

/** Tests that start no process and open no socket (test/support/unit-setup.ts enforces it): fast, and safe to run in one worker. */
export const UNIT_TESTS = [
  'test/{docs,structure}/*.test.ts',
  'test/core/{api,concurrency,errors,http}/*.test.ts',
  'test/core/config/!(cookies-file|secret-settings).test.ts',
  'test/core/egress/address-guard.test.ts',
  'test/core/media/{dash-timeline,fragment-times,hls-playlist,manifest-scan,mp3-format}.test.ts',
  'test/core/resolve/{hostile-info,item/merge-resource}.test.ts',
  'test/core/resolve/renditions/*.test.ts',
  'test/core/resolve/yt-dlp/{cookies,failures,metadata,ranking-facts,tracks,url-expiry}.test.ts',
  'test/core/state/{find-by-key,keys}.test.ts',
  'test/infra/cli/cli-plan.test.ts',
  'test/lambdas/api/get-resource.test.ts',
  'test/lambdas/middleware/*.test.ts',
  'test/lambdas/runtime/{function-environment,function-log,layered-tools}.test.ts',
  'test/lambdas/stream-host/{host-store,host-task,registration,wake-ahead,wake-plan}.test.ts',
  'test/lambdas/tools-update/{plan,tools-environment}.test.ts',
  'test/layers/tools/{bounded-lines,installer,version-store,versions,worker-client}.test.ts',
  'test/local/process-log.test.ts',
  'test/stream-service/http/{file-name,round-robin}.test.ts',
  'test/stream-service/mp3/{encoder-slots,ranged-stream,segment-clock,split-remaining}.test.ts',
  'test/stream-service/mux/peek-source.test.ts',
  'test/stream-service/sessions/admission.test.ts',
  'test/stream-service/source/request-rules.test.ts',
  'test/stream-service/task/{dockerfile,idle,metrics,task-settings}.test.ts',
  'test/web/{api/base-url,api/contract,download/queue,download/sinks,renditions/choices}.test.ts',
  'test/web/lib/*.test.ts',
];

/** Tests of the page in Chromium. */
const BROWSER_TESTS = 'test/web/browser/**/*.test.ts';

export default defineConfig({
  test: {
    reporters: ['default', './test/support/slowest-files-reporter.ts'],
    // Real processes share the cores, and many tests wait for deadlines: generous bounds, one worker more than cores.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    maxWorkers: 3,
    sequence: { sequencer: LongestFirstSequencer },
    projects: [
      {
        extends: true,
        // Pure code leaves nothing behind: the files of a worker share its modules.
        test: { name: 'unit', include: UNIT_TESTS, setupFiles: ['test/support/unit-setup.ts'], isolate: false },
      },
      {
        extends: true,
        test: { name: 'integration', include: ['test/**/*.test.ts'], exclude: [...UNIT_TESTS, BROWSER_TESTS] },
      },
      {
        extends: true,
        // The files of a worker share one Chromium and one running service.
        test: { name: 'browser', include: [BROWSER_TESTS], isolate: false },
      },
    ],
  },
});
