import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ISOLATED_TESTS } from '../../vitest.config.ts';
import { LONGEST_TESTS } from '../support/longest-first-sequencer.ts';

it('vitest finds a file for every pattern', () => {
  // A pattern without a match means moved tests, which then run in the integration project, or late.
  const cwd = join(import.meta.dirname, '../..');
  const patterns = [...ISOLATED_TESTS, ...LONGEST_TESTS];
  expect(patterns.filter((pattern) => globSync(pattern, { cwd }).length === 0)).toEqual([]);
});
