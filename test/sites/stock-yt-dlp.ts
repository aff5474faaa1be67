import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { YtDlp } from '@reelay/yt-dlp-worker';
import { installedTools } from '../support/installed-tools.ts';

const run = promisify(execFile);

/** What yt-dlp alone has done with a link. */
export interface StockOutcome {
  /** By the id of the format. */
  readonly formats: readonly StockFile[];
  /** By language. */
  readonly subtitles: readonly StockFile[];
  readonly errors: readonly string[];
}

/** A file that yt-dlp has downloaded. */
export interface StockFile {
  readonly name: string;
  readonly path: string;
  readonly sha256: string;
}

interface StockOptions {
  /** For its files. */
  readonly dir: string;
  readonly caFile: string;
  readonly proxy: string;
  /** @default that of `installedTools` */
  readonly ytDlp?: YtDlp | undefined;
  readonly args?: readonly string[];
}

const TIMEOUT_MS = 280_000;
const NAMES = '%(id)s/%(format_id)s.%(ext)s';

/** Downloads every format and subtitle of every link with yt-dlp as it comes, without the plugin of the service, in one process. */
export async function runStockYtDlp(
  links: readonly string[],
  { dir, caFile, proxy, ytDlp, args = [] }: StockOptions,
): Promise<ReadonlyMap<string, StockOutcome>> {
  const { command } = ytDlp ?? (await installedTools()).ytDlp;
  const flags = [
    ...['--ignore-config', '--no-plugin-dirs', '--no-cache-dir', '--color', 'never', '--no-playlist'],
    ...['--proxy', proxy, '--compat-options', 'no-certifi'],
    ...['--no-js-runtimes', '--js-runtimes', `node:${process.execPath}`],
    ...['--ignore-errors', '--newline', '--format', 'all[protocol!=mhtml]', '--fixup', 'never', '--no-mtime'],
    ...['--write-subs', '--sub-langs', 'all', '--output', NAMES, ...args],
  ];
  const certificates = { SSL_CERT_FILE: caFile, REQUESTS_CA_BUNDLE: caFile };
  const env = { PATH: process.env.PATH, ...certificates, LANG: 'C.UTF-8', HOME: dir };
  const log = await open(join(dir, 'log'), 'w+');
  try {
    // One file for both streams keeps the order of lines. The Node of yt-dlp may not read what tests preload.
    const script = 'unset NODE_OPTIONS; exec "$@" >>"$0" 2>&1';
    const shellArgs = ['-c', script, join(dir, 'log'), ...command, ...flags, '--', ...links];
    // Its status is that of any failed link.
    await run('/bin/sh', shellArgs, { cwd: dir, env, timeout: TIMEOUT_MS }).catch((error) => {
      if (error.killed) throw error;
    });
  } finally {
    await log.close();
  }
  return readLog(await readFile(join(dir, 'log'), 'utf8'), links, dir);
}

async function readLog(log: string, links: readonly string[], dir: string): Promise<Map<string, StockOutcome>> {
  const outcomes = new Map<string, StockOutcome>();
  let at = 0;
  for (const [index, link] of links.entries()) {
    const start = log.indexOf(`Extracting URL: ${link}\n`, at);
    if (start < 0) throw new Error(`yt-dlp has not tried ${link}:\n${log.slice(-2_000)}`);
    const next = links[index + 1];
    const end = next === undefined ? log.length : log.indexOf(`Extracting URL: ${next}\n`, start);
    at = end < 0 ? log.length : end;
    outcomes.set(link, await readSection(log.slice(start, at), dir));
  }
  return outcomes;
}

async function readSection(section: string, dir: string): Promise<StockOutcome> {
  const linesOf = (pattern: RegExp) => [...section.matchAll(pattern)].map(([, value = '']) => value);
  const errors = linesOf(/^ERROR: (?:\[[^\]]+\] )?(.*)$/gm);
  // Written once for each format.
  const subtitles = new Map(
    linesOf(/^\[info\] Writing video subtitles to: (.*)$/gm).map((path) => [path.split('.').at(-2) ?? path, path]),
  );
  const media = linesOf(/^\[download\] Destination: (.*)$/gm)
    .filter((path) => !section.includes(`subtitles to: ${path}\n`))
    .map((path) => [basename(path, extname(path)), path] as const);
  return { formats: await readFiles(media, dir), subtitles: await readFiles([...subtitles], dir), errors };
}

/** Without those whose download has failed. */
async function readFiles(paths: readonly (readonly [name: string, path: string])[], dir: string): Promise<StockFile[]> {
  const files = paths.map(async ([name, path]) => {
    const bytes = await readFile(join(dir, path)).catch(() => undefined);
    return bytes && { name, path: join(dir, path), sha256: sha256(bytes) };
  });
  return (await Promise.all(files)).filter((file) => file !== undefined);
}

export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
