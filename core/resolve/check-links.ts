import type { YtDlp } from '@reelay/yt-dlp-worker';
import { describeError } from '../log/index.ts';
import type { ResolverOptions } from './create-resolver.ts';
import { createExtract } from './link/index.ts';
import { createForks, type ForksOptions } from './yt-dlp/index.ts';

interface CheckLinksOptions
  extends Omit<ForksOptions, 'concurrency' | 'egress' | 'playlistLimit' | 'queueLimit' | 'tools'> {
  readonly links: readonly string[];
  readonly egress: ResolverOptions['egress'];
  readonly signal: AbortSignal;
}

/** No client waits. */
const TIMEOUT_MS = 60_000;

/**
 * Extracts links with a yt-dlp that is not in use yet, and stores nothing.
 * @throws Error in one line that names the site of the first link that fails
 */
export async function checkLinks(ytDlp: YtDlp, options: CheckLinksOptions): Promise<void> {
  const { links, egress, log, signal } = options;
  if (links.length === 0) return;
  const forks = createForks({
    ...options,
    tools: { ytDlp: () => ytDlp },
    concurrency: 1,
    queueLimit: links.length,
    playlistLimit: 1,
  });
  const extract = createExtract(forks, egress);
  try {
    for (const url of links)
      await extract({ url, deadline: Date.now() + TIMEOUT_MS, signal }).catch((error) => {
        signal.throwIfAborted();
        const { host } = new URL(url);
        log.warn('Canary link failed', { host, version: ytDlp.version, error: describeError(error) });
        throw new Error(`a canary link of ${host} does not resolve`, { cause: error });
      });
  } finally {
    await forks.close();
  }
}
