import { expect, it } from 'vitest';
import { CEILINGS } from './ceilings.ts';
import { codeOfPart, filesNaming, parameterInterfaces, wordsOfDocuments } from './code-size.ts';

it.each(['product', 'tests'] as const)('the code of the %s stays below its ceiling', (part) => {
  expect(codeOfPart(part)).toBeLessThanOrEqual(CEILINGS.code[part]);
});

it('the documents stay below their ceiling', () => {
  expect(wordsOfDocuments()).toBeLessThanOrEqual(CEILINGS.words);
});

it('no more interfaces carry the parameters of streams than before', () => {
  expect(parameterInterfaces()).toBeLessThanOrEqual(CEILINGS.parameterInterfaces);
});

it.each(['skip', 'chapters', 'subtitles', 'audio'] as const)(
  'no more files name the parameter %s than before',
  (name) => {
    expect(filesNaming(name)).toBeLessThanOrEqual(CEILINGS.filesNaming[name]);
  },
);
