import { describeError, type Log } from '../../core/log/index.ts';
import type { YtDlp } from '../../layers/tools/index.ts';

export interface LayeredToolsOptions {
  /** The yt-dlp of the layer; undefined when that has none. @throws Error when it does not run */
  readonly find: () => Promise<YtDlp | undefined>;
  readonly log: Log;
}

/** The tools of the layer that this execution environment carries: another layer comes with another environment. */
export interface LayeredTools {
  ytDlp(): YtDlp | undefined;
  /** Looks, unless a look before has told. One that failed has told nothing: what is in the layer may run the next time. */
  look(): Promise<void>;
}

export function createLayeredTools({ find, log }: LayeredToolsOptions): LayeredTools {
  let found: { readonly ytDlp: YtDlp | undefined } | undefined;
  let looking: Promise<void> | undefined;

  const lookOnce = async () => {
    try {
      found = { ytDlp: await find() };
    } catch (error) {
      log.error('The tools of the layer do not run', { error: describeError(error) });
    }
    looking = undefined;
  };
  return {
    ytDlp: () => found?.ytDlp,
    async look() {
      if (!found) looking ??= lookOnce();
      await looking;
    },
  };
}
