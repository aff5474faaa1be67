import type { MiddlewareObj } from '@middy/core';
import { waitAtMost } from '@reelay/concurrency';
import type { YtDlp } from '@reelay/yt-dlp-worker';
import type { Log } from '../core/log/index.ts';

interface LayeredToolsOptions {
  /**
   * Finds the yt-dlp of the layer; undefined when the layer has none.
   * @param hasFailed it has failed to start before: it is run once, to find out whether it works at all
   * @throws Error when it does not run
   */
  readonly find: (hasFailed: boolean) => Promise<YtDlp | undefined>;
  readonly log: Log;
}

/** The tools in the layer of this execution environment. They never change: another layer means another environment. */
export function createLayeredTools({ find, log }: LayeredToolsOptions) {
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
    /** Undefined until `load` has found one. */
    ytDlp: () => found?.ytDlp,
    /** Finds the tools once. A failed attempt is logged and repeated by the next call, since its cause may pass. */
    async load(): Promise<void> {
      if (!found) loading ??= loadOnce();
      await loading;
    },
    /** Reports that what `load` has found does not start. The next call of `load` tests it. */
    reportStartFailure(): void {
      hasFailed = true;
      found = undefined;
    },
  };
}

/** After this a handler runs without tools, and answers that the instance is in maintenance. */
const LOAD_TIMEOUT_MS = 15_000;

/** Loads the tools of the layer before the handler runs: the attempt at start may have failed or still be under way. */
export const loadTools = (tools: { load(): Promise<void> }, timeoutMs = LOAD_TIMEOUT_MS): MiddlewareObj => ({
  before: () => waitAtMost(tools.load(), timeoutMs),
});
