import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ISOLATED_TESTS, UNIT_TESTS } from '../../vitest.config.ts';

it('vitest finds a file for every pattern', () => {
  // A pattern without a match means moved tests, which then run in the integration project.
  const cwd = join(import.meta.dirname, '../..');
  expect([...UNIT_TESTS, ...ISOLATED_TESTS].filter((pattern) => globSync(pattern, { cwd }).length === 0)).toEqual([]);
});
