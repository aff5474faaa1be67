import { matchesGlob } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** In this order, so that no file runs alone at the end. A worker that changes its project starts again. */
const PROJECTS = ['isolated', 'browser', 'integration', 'unit'];

/** Files that take longest. Without durations of an earlier run, vitest would start them late: it goes by file size. */
export const LONGEST_TESTS = [
  // Of several minutes each.
  'test/stream-service/seeks.all.test.ts',
  'test/stream-service/matrix/twins.all.test.ts',
  'test/stream-service/matrix/rows/*.all.test.ts',
  'test/attacks/hostile-mp4.all.test.ts',
  'test/attacks/large-inputs.all.test.ts',
  'test/attacks/links.all.test.ts',
  'test/contract/clients.all.test.ts',
  'test/contract/encoded.test.ts',
  'test/contract/failures.test.ts',
  'test/contract/schemathesis.all.test.ts',
  'test/faults/sources.all.test.ts',
  'test/faults/injection/resolves.all.test.ts',
  'test/faults/injection/streams.all.test.ts',
  'test/images/arm64.all.test.ts',
  'test/images/one-machine.all.test.ts',
  'test/images/release.all.test.ts',
  'test/infra/cfn-lint.all.test.ts',
  'test/lambdas/tools-update/steps.all.test.ts',
  'test/local/hls-masters.all.test.ts',
  'test/local/main.test.ts',
  'test/scripts/verify.all.test.ts',
  'test/sites/youtube/youtube.all.test.ts',
  'test/stream-service/**/mp3.all.test.ts',
  'test/stream-service/**/segment-boundaries.all.test.ts',
  'test/stream-service/http/fetched-bytes.all.test.ts',
  'test/stream-service/task/main.all.test.ts',
  'test/web/browser/firefox.all.test.ts',
  'test/web/browser/page-states.all.test.ts',
  'test/web/browser/player.all.test.ts',
  'test/web/browser/real-downloads.all.test.ts',
  'test/yt-dlp-worker/worker.all.test.ts',
];

/** Starts the longest files of each project first. */
export default class LongestFirstSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = LONGEST_TESTS.findIndex((path) => matchesGlob(moduleId, `**/${path}`));
      return rank < 0 ? LONGEST_TESTS.length : rank;
    };
    const sorted = (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
    return PROJECTS.flatMap((name) => sorted.filter(({ project }) => project.name === name));
  }
}
