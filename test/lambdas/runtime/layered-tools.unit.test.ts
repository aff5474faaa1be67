import { describe, expect, it } from 'vitest';
import { createLayeredTools } from '../../../lambdas/layered-tools.ts';
import type { YtDlp } from '../../../packages/yt-dlp-worker/src/tools.ts';

const YT_DLP: YtDlp = { version: '2026.11.20', command: ['/opt/yt-dlp_linux'], source: 'release' };

/** Each attempt finds the next of these; further attempts find the last one. */
function createFixture(...finds: readonly (YtDlp | undefined | Error)[]) {
  const logged: string[] = [];
  let attempts = 0;
  const tools = createLayeredTools({
    find: async () => {
      const found = finds[Math.min(attempts++, finds.length - 1)];
      if (found instanceof Error) throw found;
      return found;
    },
    log: { info: () => undefined, warn: () => undefined, error: (message) => void logged.push(message) },
  });
  return { tools, logged, attempts: () => attempts };
}

describe('createLayeredTools', () => {
  it('finds the tools once, on the first load', async () => {
    const { tools, attempts } = createFixture(YT_DLP);
    expect(tools.ytDlp()).toBeUndefined();
    await Promise.all([tools.load(), tools.load()]);
    await tools.load();
    expect([tools.ytDlp(), attempts()]).toEqual([YT_DLP, 1]);
  });

  it('logs a failed attempt and repeats it on the next load', async () => {
    const { tools, logged } = createFixture(new Error('ETXTBSY'), YT_DLP);
    await tools.load();
    expect([tools.ytDlp(), logged]).toEqual([undefined, ['yt-dlp of the layer failed to start']]);
    await tools.load();
    expect(tools.ytDlp()).toBe(YT_DLP);
  });

  it('does not search an empty layer again', async () => {
    const { tools, attempts } = createFixture(undefined, YT_DLP);
    for (let call = 0; call < 3; call++) await tools.load();
    expect([tools.ytDlp(), attempts()]).toEqual([undefined, 1]);
  });
});
