import { describeError, type Log } from '../../core/log/index.ts';
import type { YtDlp } from '../../layers/tools/index.ts';
import type { CanaryVerdict } from './types.ts';

export interface TryLayerOptions {
  /** The yt-dlp of the layer, with the version that it reports; undefined when the layer has none. */
  readonly find: () => Promise<YtDlp | undefined>;
  /** @throws Error when it does not work as a worker */
  readonly smokeTest: (ytDlp: YtDlp) => Promise<void>;
  readonly log: Log;
}

/** Tests the yt-dlp in the layer of this function, in the environment in which the resolver would run it. */
export const createTryLayer =
  ({ find, smokeTest, log }: TryLayerOptions) =>
  async (): Promise<CanaryVerdict> => {
    try {
      const ytDlp = await find();
      if (!ytDlp) return { ok: false, reason: 'the layer has no yt-dlp' };
      await smokeTest(ytDlp);
      return { ok: true, version: ytDlp.version };
    } catch (error) {
      log.error('Smoke test of the layer failed', { error });
      return { ok: false, reason: describeError(error instanceof Error ? error.message : error).split('\n')[0] ?? '' };
    }
  };
