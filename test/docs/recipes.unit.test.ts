import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { operationsById } from '../../core/api/operations.ts';
import { OF_A_FILE, SKIP_AND_MARK } from '../../core/api/parameters.ts';
import { productFilesWith, ROOT } from '../structure/code-size.ts';

/** The files of a section of CONTRIBUTING.md that its steps name by their whole path. */
function filesOf(heading: string): readonly string[] {
  const [, section = ''] = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8').split(`### … ${heading}\n`);
  const [steps = ''] = section.split('\n###', 1)[0]?.split(/^(?:Two|Three) files\./m) ?? [];
  return [...new Set(steps.match(/(?<=`)[\w-]+\/[\w/.-]+\.ts(?=`)/g))].toSorted();
}

describe('a parameter of a stream', () => {
  const [row, field, effect] = filesOf('a parameter of a stream');

  it('touches three files', () =>
    expect([row, field, effect]).toEqual([
      'core/api/parameters.ts',
      'core/api/selection.ts',
      'stream-service/outputs/plan.ts',
    ]));

  it.each([
    ['fromKeyframeSeconds', effect],
    ['textFormat', 'stream-service/http/app.ts'],
    ['isArchive', 'lambdas/api/get-media.ts'],
  ])('%s is named in its field, in its row, and where it has an effect', (name, where) =>
    expect(productFilesWith(new RegExp(`\\b${name}\\b`))).toEqual([row, field, where].toSorted()),
  );

  it('is one of the operations by its group', () => {
    const { query } = operationsById.Media;
    expect(query).toMatchObject({ ...OF_A_FILE, ...SKIP_AND_MARK });
    expect(Object.keys(operationsById.Get.query ?? {})).toEqual(expect.arrayContaining(Object.keys(OF_A_FILE)));
  });
});
