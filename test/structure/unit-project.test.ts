import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { UNIT_TESTS } from '../../vitest.config.ts';

it.each(UNIT_TESTS)('the unit project finds a file for %s', (pattern) =>
  // A pattern without a match means moved tests, which then run as slower integration tests.
  expect(globSync(pattern, { cwd: join(import.meta.dirname, '../..') })).not.toEqual([]),
);
