import { bareEvent } from '../../test/bundled/documented-event.ts';
import { startFunctionFixture } from '../../test/bundled/function-fixture.ts';
import { startOrigin } from '../../test/origin/server.ts';
import { frozenYtDlp } from '../../test/support/frozen-yt-dlp.ts';
import type { StandaloneCase } from '../bench.ts';
import { median } from '../figures.ts';
import { familyCpuSeconds } from '../processes.ts';

const RUNS = 7;
/** Lambda gives about one core at the default 2,048 MB of the resolver. */
const ONE_CORE = ['taskset', '-c', '0'];
const MAX_START_SECONDS = 1.5;

/**
 * An execution environment of Lambda: from its start until the resolver's bundle is initialized and its worker ready, and then
 * its first resolve. Each run is a new process on one core. Files are in the page cache, where Lambda first has to load them,
 * and yt-dlp is the package, where Lambda has the frozen release.
 */
export const coldStart: StandaloneCase = async function* () {
  const origin = await startOrigin();
  const fixture = await startFunctionFixture(['get-resource']);
  try {
    const env = {
      ...fixture.environment,
      TOOLS_LAYER_DIR: (await frozenYtDlp()).dir,
      EGRESS_ALLOW: origin.host,
      ENTRIES_AT_ONCE: '4',
    };
    const runs: { readonly start: number; readonly cpu: number; readonly resolve: number }[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const startedAt = performance.now();
      const resolver = await fixture.start('get-resource', env, ONE_CORE);
      const readyAt = performance.now();
      const cpu = familyCpuSeconds(resolver.pid);
      const query = `url=${encodeURIComponent(`${origin.baseUrl}/files/clip.mp4?cold=${run}`)}`;
      const answer = (await resolver.invoke(bareEvent('/api/Fetch/GetResource', { query }))) as { statusCode?: number };
      if (answer.statusCode !== 200) throw new Error(`The first resolve answered ${JSON.stringify(answer)}`);
      const resolvedAt = performance.now();
      await resolver.close();
      runs.push({ start: (readyAt - startedAt) / 1000, cpu, resolve: (resolvedAt - readyAt) / 1000 });
    }
    const figure = (what: string, ours: number) => ({ what, ours, unit: 's' });
    const start = median(runs.map((run) => run.start));
    yield { ...figure('cold start of the resolver on one core', start), atMost: MAX_START_SECONDS };
    yield figure('  its CPU time', median(runs.map(({ cpu }) => cpu)));
    yield figure('  the first resolve after it', median(runs.map(({ resolve }) => resolve)));
  } finally {
    await fixture.close();
    await origin.close();
  }
};
