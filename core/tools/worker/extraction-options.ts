import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';

/** Cookies and arguments of the operator, for every extraction. */
export interface OperatorOptions {
  /** Netscape cookies file. */
  readonly cookiesFile?: string;
  /** Netscape cookies files of single sites; their cookies replace equal ones of `cookiesFile`. */
  readonly cookiesDir?: readonly string[];
  /** PEM file of certificates to trust besides the built-in ones. */
  readonly extraCaFile?: string;
  /** As `--extractor-args` of yt-dlp: `extractor:name=value;name=value`. */
  readonly extractorArgs?: readonly string[];
}

/**
 * Writes the cookies into one file that only this user can read; the last of equal cookies applies.
 * @returns its path in `dir`; undefined without cookies
 */
export async function writeCookies(
  dir: string,
  { cookiesFile, cookiesDir = [] }: OperatorOptions,
): Promise<string | undefined> {
  const files = cookiesFile === undefined ? cookiesDir : [cookiesFile, ...cookiesDir];
  if (files.length === 0) return undefined;
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const merged = join(dir, 'cookies.txt');
  // The first line of each further file is a comment.
  await writeFile(merged, texts.join('\n'), { mode: 0o600 });
  return merged;
}

/**
 * Writes the certificates that yt-dlp is to trust into one file.
 * @returns the variables of its environment that name the file: the first is read by OpenSSL, which yt-dlp uses with
 * `no-certifi`, the second by curl_cffi; none where it trusts the certificates that it comes with
 */
export async function writeCertificates(
  dir: string,
  { extraCaFile }: OperatorOptions,
): Promise<Readonly<Record<string, string>>> {
  if (extraCaFile === undefined) return {};
  const file = join(dir, 'certificates.pem');
  await writeFile(file, [...rootCertificates, await readFile(extraCaFile, 'utf8')].join('\n'));
  return { SSL_CERT_FILE: file, REQUESTS_CA_BUNDLE: file };
}

/**
 * Writes options of yt-dlp into a file that only this user can read, instead of onto the command line, which other users of
 * the machine see.
 * @returns the options that read it
 */
export async function writeConfig(
  dir: string,
  { extractorArgs = [] }: OperatorOptions,
  options: readonly (readonly [name: string, value: string])[] = [],
): Promise<string[]> {
  const all = [...options, ...extractorArgs.map((value) => ['--extractor-args', value] as const)];
  if (all.length === 0) return [];
  const file = join(dir, 'yt-dlp.conf');
  await writeFile(file, all.map(([name, value]) => `${name} ${quote(value)}\n`).join(''), { mode: 0o600 });
  return ['--config-locations', file];
}

/** For `shlex.split` of Python. */
const quote = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;

export interface ExtractionFlagsOptions {
  /** For what yt-dlp keeps between extractions. */
  readonly cacheDir: string;
  readonly pluginDirs: readonly string[];
  /** Path of Node, for extractors that run JavaScript. */
  readonly jsRuntime: string;
  /** Netscape cookies file. */
  readonly cookiesFile: string | undefined;
  /** Whether its certificates are those of `writeCertificates`. */
  readonly hasExtraCa: boolean;
}

/** Options of yt-dlp for every extraction, by the warm worker or by a process of its own. */
export const extractionFlags = (options: ExtractionFlagsOptions): string[] => [
  ...['--quiet', '--ignore-config', '--no-update', '--color', 'never'],
  ...['--no-plugin-dirs', ...options.pluginDirs.flatMap((dir) => ['--plugin-dirs', dir])],
  ...['--cache-dir', options.cacheDir, '--no-remote-components'],
  ...['--no-js-runtimes', '--js-runtimes', `node:${options.jsRuntime}`],
  ...['--socket-timeout', '10', '--retries', '1', '--extractor-retries', '1'],
  ...['--flat-playlist', '--no-playlist', '--no-check-formats', '--no-mark-watched', '--no-wait-for-video'],
  ...['--xff', 'never', '--default-search', 'error', '--format', 'bv*+ba/b/bv*/ba'],
  ...(options.cookiesFile ? ['--cookies', options.cookiesFile] : []),
  ...(options.hasExtraCa ? ['--compat-options', 'no-certifi'] : []),
];
