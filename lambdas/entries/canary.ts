import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findLayeredYtDlp, smokeTestYtDlp, startYtDlp } from '@reelay/yt-dlp-worker';
import { openLoopbackProxy } from '../../core/egress/index.ts';
import { createFunctionLog } from '../function-environment.ts';
import { createTryLayer } from '../tools-update/index.ts';

/** Where Lambda unpacks layers. */
const LAYERS = '/opt';

const log = createFunctionLog();

/** Runs the smoke test with the yt-dlp of the attached layer. */
export const handler = createTryLayer({
  find: () => findLayeredYtDlp(LAYERS, join(tmpdir(), 'yt-dlp')),
  smokeTest: (ytDlp) =>
    smokeTestYtDlp(ytDlp, {
      openProxy: openLoopbackProxy,
      onUnsolvedChallenge: (reason) =>
        log.warn('yt-dlp does not solve the JavaScript challenges of YouTube', { reason }),
    }),
  startsWorker: (ytDlp) =>
    startYtDlp('worker', { ytDlp, concurrency: 1, memoryBytes: 2 ** 30 }).then(
      (worker) => worker.close().then(() => true),
      () => false,
    ),
  log,
});
