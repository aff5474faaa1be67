import { defineConfig } from 'vitest/config';
import { UNIT_TESTS } from './vitest.config.ts';

/** The unit tests alone, for mutation testing: each mutant runs only the tests that reach it. */
export default defineConfig({
  test: {
    include: UNIT_TESTS,
    exclude: ['test/{docs,structure}/**', 'test/**/*-{properties,reference}.unit.test.ts'],
    testTimeout: 180_000,
    setupFiles: ['test/support/file-setup.ts', 'test/support/unit-setup.ts'],
  },
});
