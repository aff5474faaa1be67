import { describeError, type Log } from '../../core/log/index.ts';
import type { YtDlp } from '../../layers/tools/index.ts';
import type { CanaryVerdict } from './types.ts';

export interface TryLayerOptions {
  /** The yt-dlp of the layer; undefined when it has none. Its version is what it says of itself. */
  readonly find: () => Promise<YtDlp | undefined>;
  /** @throws Error when it does not work as a worker */
  readonly smokeTest: (ytDlp: YtDlp) => Promise<void>;
  readonly log: Log;
}

/** Says whether the yt-dlp of the layer that this function carries works, where the resolver would run it. */
export const createTryLayer =
  ({ find, smokeTest, log }: TryLayerOptions) =>
  async (): Promise<CanaryVerdict> => {
    try {
      const ytDlp = await find();
      if (!ytDlp) return { ok: false, reason: 'there is none in the layer' };
      await smokeTest(ytDlp);
      return { ok: true, version: ytDlp.version };
    } catch (error) {
      log.error('The yt-dlp of the layer does not work', { error: describeError(error, true) });
      return { ok: false, reason: describeError(error instanceof Error ? error.message : error).split('\n')[0] ?? '' };
    }
  };
