export interface ExtractionFlagsOptions {
  /** For what yt-dlp keeps between extractions. */
  readonly cacheDir: string;
  readonly pluginDirs: readonly string[];
  /** Path of Node, for extractors that run JavaScript. */
  readonly jsRuntime: string;
  /** Netscape cookies file. */
  readonly cookiesFile: string | undefined;
}

/** Options of yt-dlp for every extraction, by the warm worker or by a process of its own. */
export const extractionFlags = ({ cacheDir, pluginDirs, jsRuntime, cookiesFile }: ExtractionFlagsOptions): string[] => [
  ...['--quiet', '--ignore-config', '--no-update', '--color', 'never'],
  ...['--no-plugin-dirs', ...pluginDirs.flatMap((dir) => ['--plugin-dirs', dir])],
  ...['--cache-dir', cacheDir, '--no-remote-components'],
  ...['--no-js-runtimes', '--js-runtimes', `node:${jsRuntime}`],
  ...['--socket-timeout', '10', '--retries', '1', '--extractor-retries', '1'],
  ...['--flat-playlist', '--no-playlist', '--no-check-formats', '--no-mark-watched', '--no-wait-for-video'],
  ...['--xff', 'never', '--default-search', 'error', '--format', 'bv*+ba/b/bv*/ba'],
  ...(cookiesFile ? ['--cookies', cookiesFile] : []),
];
