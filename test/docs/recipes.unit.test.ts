import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { audioFiles } from '@reelay/seekable-media/mp4-clip';
import { describe, expect, it } from 'vitest';
import { operationsById } from '../../core/api/operations.ts';
import { OF_A_FILE, SKIP_AND_MARK } from '../../core/api/parameters.ts';
import { audioCopies } from '../../core/conversions/index.ts';
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

describe('a container of audio that is copied', () => {
  const files = filesOf('a container of audio that is copied');
  /** What reads sources names their codecs and containers, whatever is sent. */
  const READS_SOURCES =
    /^core\/(?:resolve|parsing)\/|^packages\/seekable-media\/src\/(?!mp4-clip\/audio-files)|^stream-service\/(?:ffmpeg\/|outputs\/list-files)|^web\/src\/renditions\/codecs/;

  it('touches two files', () => expect(files).toHaveLength(2));

  it.each(Object.keys(audioFiles))('%s is named in these alone', (name) => {
    const named = productFilesWith(new RegExp(`\\b${name}\\b`, 'i')).filter((file) => !READS_SOURCES.test(file));
    expect(named).toEqual(files);
  });

  it.each(Object.entries(audioCopies))('%s is MP4, or has its functions, by its name', (name, { container }) => {
    expect(container).toBe(name);
    expect(container === 'm4a' || container in audioFiles).toBe(true);
  });
});
