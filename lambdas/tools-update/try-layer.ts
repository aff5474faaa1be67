import { describeError, type Log } from '../../core/log/index.ts';
import type { YtDlp, YtDlpMode } from '../../core/tools/index.ts';
import type { CanaryVerdict } from './types.ts';

export interface TryLayerOptions {
  /** The yt-dlp of the layer, with the version that it reports; undefined when the layer has none. */
  readonly find: () => Promise<YtDlp | undefined>;
  /** @returns the mode in which it works, if that is known. @throws Error when it works in none */
  readonly smokeTest: (ytDlp: YtDlp) => Promise<YtDlpMode | undefined>;
  readonly log: Log;
}

/** Tests the yt-dlp in the layer of this function, in the environment in which the resolver would run it. */
export const createTryLayer =
  ({ find, smokeTest, log }: TryLayerOptions) =>
  async (): Promise<CanaryVerdict> => {
    try {
      const ytDlp = await find();
      if (!ytDlp) return { ok: false, reason: 'the layer has no yt-dlp' };
      const { version } = ytDlp;
      if ((await smokeTest(ytDlp)) !== 'process-per-link') return { ok: true, version };
      log.warn('yt-dlp works as one process per link only', { version });
      return { ok: true, version, mode: 'process-per-link' };
    } catch (error) {
      log.error('Smoke test of the layer failed', { error });
      return { ok: false, reason: describeError(error instanceof Error ? error.message : error).split('\n')[0] ?? '' };
    }
  };
