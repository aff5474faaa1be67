import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest. Without durations of an earlier run, vitest would start them late: it goes by file size. */
const LONGEST = [
  'test/contract/schemathesis',
  'test/faults/from-the-start',
  'test/faults/in-the-middle',
  'test/images/arm64',
  'test/images/one-machine',
  'test/infra/synthesis',
  'test/lambdas/tools-update/killed',
  'test/lambdas/tools-update/update-tools',
  'test/local/hls-masters',
  'test/stream-service/outputs/encode/mp3/mp3',
  'test/stream-service/outputs/encode/mp3/segment-boundaries',
  'test/stream-service/task/main',
];

/** Starts the longest files first, so that none of them runs alone at the end. */
export default class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification) => LONGEST.some((path) => moduleId.endsWith(`/${path}.test.ts`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
