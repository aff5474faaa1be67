import { describe, expect, it } from 'vitest';
import { createLayeredTools } from '../../../lambdas/runtime/layered-tools.ts';
import type { YtDlp } from '../../../layers/tools/tools.ts';

const YT_DLP: YtDlp = { version: '2026.11.20', command: ['/opt/yt-dlp_linux'], source: 'release' };

/** Each look finds the next of these; after the last, that again. */
function start(...finds: readonly (YtDlp | undefined | Error)[]) {
  const said: string[] = [];
  let looks = 0;
  const tools = createLayeredTools({
    find: async () => {
      const found = finds[Math.min(looks++, finds.length - 1)];
      if (found instanceof Error) throw found;
      return found;
    },
    log: { info: () => undefined, warn: () => undefined, error: (message) => void said.push(message) },
  });
  return { tools, said, looks: () => looks };
}

describe('the tools of a layer', () => {
  it('are not there before a look, and looked for once', async () => {
    const { tools, looks } = start(YT_DLP);
    expect(tools.ytDlp()).toBeUndefined();
    await Promise.all([tools.look(), tools.look()]);
    await tools.look();
    expect([tools.ytDlp(), looks()]).toEqual([YT_DLP, 1]);
  });

  it('are looked for again after a look that failed, which is logged', async () => {
    const { tools, said } = start(new Error('ETXTBSY'), YT_DLP);
    await tools.look();
    expect([tools.ytDlp(), said]).toEqual([undefined, ['The tools of the layer do not run']]);
    await tools.look();
    expect(tools.ytDlp()).toBe(YT_DLP);
  });

  it('are not looked for again in a layer that has none', async () => {
    const { tools, looks } = start(undefined, YT_DLP);
    for (let call = 0; call < 3; call++) await tools.look();
    expect([tools.ytDlp(), looks()]).toEqual([undefined, 1]);
  });
});
