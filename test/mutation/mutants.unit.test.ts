import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { mutantsOf, planted, probed, sampleOf } from './mutants.ts';

const CODE = `type Size = 1 | 2;
const MAX_BYTES = 8;
log.info('read', 1 + 1);
export const f = (a: number) => {
  let at = 0;
  if (a < 3) at += 1;
  at += 1;
  at += 1;
  return at;
};`;

it('finds the places that tests can notice, names each, and plants and probes them', async () => {
  const file = join(await temporaryFolder(), 'code.ts');
  writeFileSync(file, CODE);
  const mutants = mutantsOf([file]);
  expect(mutants.map(({ text, from, to }) => [text.trim(), from, to])).toEqual([
    ['let at = 0;', '0', '(0 + 1)'],
    ['if (a < 3) at += 1;', 'a < 3', expect.stringMatching(/^(true|false)$/)],
    ['at += 1;', '1', '(1 + 1)'],
    ['at += 1; (2)', '1', '(1 + 1)'],
  ]);
  const [, , third, fourth] = mutants;
  if (!third || !fourth) throw new Error('Too few');
  expect(planted(CODE, fourth)).toBe(CODE.replace('at += 1;\n  return', 'at += (1 + 1);\n  return'));
  expect(probed(CODE, [...mutants.entries()], '/record').match(/appendFileSync\("\/record",'\d/g)).toHaveLength(4);
  expect(sampleOf(mutants, 2, 1)).toEqual(sampleOf(mutants.toReversed(), 2, 1));
});
