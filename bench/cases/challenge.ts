import { resolve } from 'node:path';
import { startWorker } from '../../packages/yt-dlp-worker/src/worker/worker-process.ts';
import { installedTools } from '../../test/support/installed-tools.ts';
import type { StandaloneCase } from '../bench.ts';
import { inTurn, seconds } from '../figures.ts';

const RUNS = 20;
const MAX_ADDED_MS = 50;
const PLUGIN = resolve(import.meta.dirname, '../../test/yt-dlp-worker/plugin');

/** What the JavaScript challenge of a second video adds, with a player of 2.5 MB, and what it costs yt-dlp alone. */
export const challenge: StandaloneCase = async function* () {
  const { ytDlp } = await installedTools();
  const worker = await startWorker({ ytDlp, pluginDirs: [PLUGIN], concurrency: 2, memoryBytes: 2 ** 29 });
  const extract = (link: string) => async () => {
    const request = { url: `reelay-worker-test:${link}`, timeoutSeconds: 60, proxy: 'http://127.0.0.1:9' };
    const answer = await worker.request({ ...request, flat: true, playlistLimit: 1 });
    if (!answer.ok) throw new Error(JSON.stringify(answer.error));
  };
  // The URL of no player, for which a fork runs yt-dlp's own solver.
  const [kept, alone, without] = [
    extract('challenge?large/abc'),
    extract('challenge?../large/abc'),
    extract('environment'),
  ];
  try {
    await kept();
    const added = await inTurn(
      RUNS,
      () => seconds(kept),
      () => seconds(without),
    );
    const own = await inTurn(
      3,
      () => seconds(kept),
      () => seconds(alone),
    );
    const what = 'challenge of the second video of a player';
    const ours = (added.ours - added.rival) * 1000;
    yield { what: `${what}: added`, ours, unit: 'ms', atMost: MAX_ADDED_MS };
    yield { what, ours: own.ours * 1000, rival: own.rival * 1000, rivalName: 'yt-dlp', unit: 'ms', atMost: 0.2 };
  } finally {
    await worker.close();
  }
};
