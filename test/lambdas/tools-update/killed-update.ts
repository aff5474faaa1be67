/**
 * Runs the update in a process that kills itself right after a step. Arguments: the step, the URL of the release pages, the
 * file of their key. The environment is that of the function.
 */
import { readFileSync } from 'node:fs';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { silentLog } from '../../../core/log/index.ts';
import { createToolsUpdate } from '../../../lambdas/tools-update/create-tools-update.ts';
import { updateTools } from '../../../lambdas/tools-update/update-tools.ts';
import { createReleases } from '../../../packages/yt-dlp-worker/src/yt-dlp/releases.ts';
import { createPatientState } from './patient-state.ts';

const [fatal, url = '', keyFile = ''] = process.argv.slice(2);
const egress = createEgress({ allow: [new URL(url).host] });
const ignore = () => undefined;
const parts = createToolsUpdate(process.env, {
  metrics: { updateFailed: ignore, missing: ignore, maintained: ignore, age: ignore },
  log: silentLog,
  releases: createReleases({
    channel: 'stable',
    url,
    key: readFileSync(keyFile, 'utf8'),
    download: egress.request,
  }),
  onStep: (step) => {
    if (step === fatal) process.kill(process.pid, 'SIGKILL');
  },
  pollIntervalSeconds: 0.01,
  leaseSeconds: 1,
});
await updateTools({ ...parts, state: createPatientState(process.env.TABLE_NAME ?? '') }, new AbortController().signal);
await egress.close();
