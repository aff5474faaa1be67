import { expect, it } from 'vitest';
import { CEILINGS, countLines } from './ceilings.ts';

it.each(['product', 'tests'] as const)('the lines of the %s stay below their ceiling', (part) => {
  expect(countLines(part)).toBeLessThanOrEqual(CEILINGS.lines[part]);
});
