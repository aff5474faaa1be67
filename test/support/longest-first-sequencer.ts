import { matchesGlob } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** In this order, so that no file runs alone at the end. A worker that changes its project starts again. */
const PROJECTS = ['isolated', 'browser', 'integration', 'unit'];

/** Files that take longest. Without durations of an earlier run, vitest would start them late: it goes by file size. */
export const LONGEST_TESTS = [
  'test/attacks/hostile-mp4.test.ts',
  'test/attacks/large-inputs.test.ts',
  'test/attacks/links.test.ts',
  'test/contract/clients.test.ts',
  'test/contract/encoded.test.ts',
  'test/contract/failures.test.ts',
  'test/contract/schemathesis.test.ts',
  'test/faults/from-the-start.test.ts',
  'test/faults/in-the-middle.test.ts',
  'test/faults/injection/resolves.test.ts',
  'test/faults/injection/streams.test.ts',
  'test/images/arm64.test.ts',
  'test/images/one-machine.test.ts',
  'test/images/release.test.ts',
  'test/infra/synthesis.test.ts',
  'test/lambdas/tools-update/update-tools.test.ts',
  'test/local/hls-masters.test.ts',
  'test/local/main.test.ts',
  'test/sites/youtube/youtube.test.ts',
  'test/stream-service/**/mp3.test.ts',
  'test/stream-service/**/segment-boundaries.test.ts',
  'test/stream-service/http/fetched-bytes.test.ts',
  'test/stream-service/task/main.test.ts',
  'test/web/browser/firefox.test.ts',
  'test/web/browser/page-states.test.ts',
];

/** Starts the longest files of each project first. */
export default class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      LONGEST_TESTS.some((path) => matchesGlob(moduleId, `**/${path}`));
    const sorted = await super.sort(files);
    return PROJECTS.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}
