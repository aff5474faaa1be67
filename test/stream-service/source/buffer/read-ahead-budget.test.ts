import { expect, it } from 'vitest';
import { createReadAheadBudgets } from '../../../../stream-service/source/buffer/read-ahead-limits.ts';

it('leaves half of the memory for reading ahead to other clients', () => {
  const budgetOf = createReadAheadBudgets(100);
  expect(budgetOf('a').tryReserve(40)).toBe(true);
  expect(budgetOf('a').tryReserve(20)).toBe(false);
  expect(budgetOf('b').tryReserve(50)).toBe(true);
  expect(budgetOf('c').tryReserve(20)).toBe(false);
  budgetOf('a').release(40);
  expect(budgetOf('c').tryReserve(20)).toBe(true);
});
