import { memoryShares } from '../config/index.ts';
import { describeError } from '../log/index.ts';
import type { YtDlp } from '../tools/index.ts';
import type { ResolverOptions } from './create-resolver.ts';
import { createAddressedExtractor } from './link/index.ts';
import { createExtractor } from './yt-dlp/index.ts';

export interface CheckLinksOptions
  extends Pick<
    ResolverOptions,
    'cookiesDir' | 'cookiesFile' | 'extraCaFile' | 'impersonate' | 'ytDlpExtractorArgs' | 'ytDlpPlugins'
  > {
  readonly links: readonly string[];
  readonly egress: ResolverOptions['egress'];
  readonly log: NonNullable<ResolverOptions['log']>;
  readonly signal: AbortSignal;
}

/** No client waits. */
const TIMEOUT_MS = 60_000;

/**
 * Extracts links with a yt-dlp that is not in use yet, and stores nothing.
 * @throws Error in one line that names the site of the first link that fails
 */
export async function checkLinks(ytDlp: YtDlp, options: CheckLinksOptions): Promise<void> {
  const { links, egress, log, signal, ytDlpPlugins, ytDlpExtractorArgs, ...settings } = options;
  if (links.length === 0) return;
  const { forkBytes } = memoryShares();
  const extractor = createExtractor({
    ...settings,
    tools: { ytDlp: () => ytDlp },
    egress,
    log,
    memoryBytes: forkBytes,
    maxBytes: 2 ** 26,
    pluginDirs: ytDlpPlugins === undefined ? [] : [ytDlpPlugins],
    extractorArgs: ytDlpExtractorArgs,
    concurrency: 1,
    queueLimit: links.length,
    playlistLimit: 1,
  });
  const extract = createAddressedExtractor(extractor, egress);
  try {
    for (const url of links)
      await extract({ url, deadline: Date.now() + TIMEOUT_MS, signal }).catch((error) => {
        signal.throwIfAborted();
        const { host } = new URL(url);
        log.warn('Canary link failed', { host, version: ytDlp.version, error: describeError(error) });
        throw new Error(`a canary link of ${host} does not resolve`, { cause: error });
      });
  } finally {
    await extractor.close();
  }
}
