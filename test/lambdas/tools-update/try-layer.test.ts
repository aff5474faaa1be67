import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/log.ts';
import { createTryLayer } from '../../../lambdas/tools-update/try-layer.ts';
import { smokeTestYtDlp } from '../../../layers/tools/runner/smoke-test.ts';
import { installedTools } from '../../support/installed-tools.ts';
import { misfit } from '../../support/misfit-yt-dlp.ts';
import { openTestProxySession } from '../../support/proxy-session.ts';

const { ytDlp } = await installedTools();
const smokeTest = (candidate: typeof ytDlp) => smokeTestYtDlp(candidate, { openProxy: openTestProxySession });
const tryLayer = createTryLayer({ find: async () => ytDlp, smokeTest, log: silentLog });

describe('createTryLayer', () => {
  it('returns the version of a working yt-dlp', async () => {
    expect(await tryLayer()).toEqual({ ok: true, version: ytDlp.version });
  });

  it('returns the mode of a yt-dlp that the worker does not fit', async () => {
    const verdict = await createTryLayer({ find: async () => misfit(ytDlp), smokeTest, log: silentLog })();
    expect(verdict).toEqual({ ok: true, version: ytDlp.version, mode: 'process-per-link' });
  });

  it.each([
    ['a layer without yt-dlp', async () => undefined, /the layer has no yt-dlp/],
    [
      'a program that reports another version',
      () => Promise.reject(new Error('it calls itself x\nand more')),
      /^it calls itself x$/,
    ],
    [
      'a program that does not start',
      async () => ({ ...ytDlp, command: ['/nowhere/yt-dlp'] as const }),
      /before it was ready/,
    ],
    [
      'a program that is not a worker',
      async () => ({ ...ytDlp, command: [process.execPath, '-e', '0', '--'] as const }),
      /before it was ready/,
    ],
  ])('returns the reason of a failure: %s', async (_, find, reason) => {
    const verdict = await createTryLayer({ find, smokeTest, log: silentLog })();
    expect(verdict).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });
});
