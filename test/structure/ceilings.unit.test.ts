import { expect, it } from 'vitest';
import { CEILINGS } from './ceilings.ts';
import { codeOfPart, wordsOfDocuments } from './code-size.ts';

it.each(['product', 'tests'] as const)('the code of the %s stays below its ceiling', (part) => {
  expect(codeOfPart(part)).toBeLessThanOrEqual(CEILINGS.code[part]);
});

it('the documents stay below their ceiling', () => {
  expect(wordsOfDocuments()).toBeLessThanOrEqual(CEILINGS.words);
});
