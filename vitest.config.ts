import { defineConfig } from 'vitest/config';

/** Tests of the page in Chromium. */
const BROWSER = 'test/web/browser/**/*.test.ts';

export default defineConfig({
  test: {
    // Real processes share two cores: a generous bound, and not too many files at once.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'node', include: ['test/**/*.test.ts'], exclude: [BROWSER] } },
      // The files of a worker share one Chromium and one running service.
      { extends: true, test: { name: 'browser', include: [BROWSER], isolate: false } },
    ],
  },
});
