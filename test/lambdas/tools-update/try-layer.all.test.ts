import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../core/log/index.ts';
import { createTryLayer } from '../../../lambdas/tools-update/check-release.ts';
import { smokeTestYtDlp } from '../../../packages/yt-dlp-worker/src/smoke-test.ts';
import type { YtDlp } from '../../../packages/yt-dlp-worker/src/tools.ts';
import { openTestProxySession } from '../../support/proxy-session.ts';
import { QUICK_YT_DLP } from '../../support/quick-yt-dlp.ts';

const ytDlp: YtDlp = { version: '2026.08.19', command: QUICK_YT_DLP, source: 'release' };
const smokeTest = (candidate: YtDlp) => smokeTestYtDlp(candidate, { openProxy: openTestProxySession });
const tryLayer = createTryLayer({ find: async () => ytDlp, smokeTest, log: silentLog });

describe('createTryLayer', () => {
  it('returns the version of a working yt-dlp', async () => {
    expect(await tryLayer()).toEqual({ ok: true, version: ytDlp.version });
  });

  it.each([
    ['does not start', false, { ok: true, version: ytDlp.version }],
    ['starts all the same', true, { ok: false, reason: 'its warm worker starts, but resolves no link' }],
  ])('of a yt-dlp that resolves links in processes alone, whose worker %s: %j', async (_, starts, expected) => {
    const find = async () => ytDlp;
    const startsWorker = async () => starts;
    const smokeTest = async () => ({ mode: 'process-per-link' as const });
    expect(await createTryLayer({ find, smokeTest, startsWorker, log: silentLog })()).toEqual(expected);
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
