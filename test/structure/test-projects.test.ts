import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ISOLATED_TESTS, UNIT_TESTS } from '../../vitest.config.ts';

it.each([...UNIT_TESTS, ...ISOLATED_TESTS])('vitest finds a file for %s', (pattern) =>
  // A pattern without a match means moved tests, which then run in the integration project.
  expect(globSync(pattern, { cwd: join(import.meta.dirname, '../..') })).not.toEqual([]),
);
