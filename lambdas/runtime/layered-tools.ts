import type { MiddlewareObj } from '@middy/core';
import { waitAtMost } from '@reelay/concurrency';
import type { YtDlp } from '@reelay/yt-dlp-worker';
import type { Log } from '../../core/log/index.ts';

export interface LayeredToolsOptions {
  /**
   * Finds the yt-dlp of the layer; undefined when the layer has none.
   * @param hasFailed it has failed to start before: it is run once, to find out whether it works at all
   * @throws Error when it does not run
   */
  readonly find: (hasFailed: boolean) => Promise<YtDlp | undefined>;
  readonly log: Log;
}

/** The tools in the layer of this execution environment. They never change: another layer means another environment. */
export interface LayeredTools {
  /** Undefined until `load` has found one. */
  ytDlp(): YtDlp | undefined;
  /** Finds the tools once. A failed attempt is logged and repeated by the next call, since its cause may pass. */
  load(): Promise<void>;
  /** Reports that what `load` has found does not start. The next call of `load` tests it. */
  reportStartFailure(): void;
}

export function createLayeredTools({ find, log }: LayeredToolsOptions): LayeredTools {
  let found: { readonly ytDlp: YtDlp | undefined } | undefined;
  let loading: Promise<void> | undefined;
  let hasFailed = false;

  const loadOnce = async () => {
    try {
      found = { ytDlp: await find(hasFailed) };
    } catch (error) {
      log.error('yt-dlp of the layer failed to start', { error });
    }
    loading = undefined;
  };
  return {
    ytDlp: () => found?.ytDlp,
    async load() {
      if (!found) loading ??= loadOnce();
      await loading;
    },
    reportStartFailure() {
      hasFailed = true;
      found = undefined;
    },
  };
}

/** After this a handler runs without tools, and answers that the instance is in maintenance. */
const LOAD_TIMEOUT_MS = 15_000;

/** Loads the tools of the layer before the handler runs: the attempt at start may have failed or still be under way. */
export const loadTools = (tools: Pick<LayeredTools, 'load'>, timeoutMs = LOAD_TIMEOUT_MS): MiddlewareObj => ({
  before: () => waitAtMost(tools.load(), timeoutMs),
});
