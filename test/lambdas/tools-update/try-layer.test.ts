import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import { createTryLayer } from '../../../lambdas/tools-update/try-layer.ts';
import { smokeTestYtDlp } from '../../../layers/tools/worker/smoke-test.ts';
import { leaseFor } from '../../layers/tools/lease.ts';
import { installedTools } from '../../support/installed-tools.ts';

const { ytDlp } = await installedTools();
const smokeTest = (candidate: typeof ytDlp) => smokeTestYtDlp(candidate, { openProxy: leaseFor });
const tryLayer = createTryLayer({ find: async () => ytDlp, smokeTest, log: silentLog });

describe('the canary', () => {
  it('names the version of a yt-dlp that works', async () => {
    expect(await tryLayer()).toEqual({ ok: true, version: ytDlp.version });
  });

  it.each([
    ['a layer without one', async () => undefined, /the layer has no yt-dlp/],
    [
      'one that is not what it says',
      () => Promise.reject(new Error('it calls itself x\nand more')),
      /^it calls itself x$/,
    ],
    [
      'one that does not start',
      async () => ({ ...ytDlp, command: ['/nowhere/yt-dlp'] as const }),
      /before it was ready/,
    ],
    [
      'one that is no worker',
      async () => ({ ...ytDlp, command: [process.execPath, '-e', '0', '--'] as const }),
      /before it was ready/,
    ],
  ])('says what is wrong with %s', async (_, find, reason) => {
    const verdict = await createTryLayer({ find, smokeTest, log: silentLog })();
    expect(verdict).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });
});
