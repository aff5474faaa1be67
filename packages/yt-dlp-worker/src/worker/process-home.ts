import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { CHANGE, confine } from '../process/sandbox.ts';

/** Cookies and arguments of the operator, for every extraction. */
export interface OperatorOptions {
  /** Netscape cookies file. */
  readonly cookiesFile?: string;
  /** Netscape cookies files of single sites; their cookies replace equal ones of `cookiesFile`. */
  readonly cookiesDir?: readonly string[];
  /** PEM file of certificates to trust besides the built-in ones. */
  readonly extraCaFile?: string;
  /** As `--extractor-args` of yt-dlp: `extractor:name=value;name=value`. The servers that they name may be reached. */
  readonly extractorArgs?: readonly string[];
  /** Additional plugin folders: those of the operator, and of tests. */
  readonly pluginDirs?: readonly string[];
}

interface ProcessHomeOptions {
  readonly operator: OperatorOptions;
  /** The command of yt-dlp. */
  readonly command?: readonly string[];
  /** The plugin folder that yt-dlp loads first. */
  readonly ownPlugins: string;
  /** Folder of temporary files and of the cache of yt-dlp. Created if necessary. */
  readonly temporaryDir: string;
  /** The proxy of all requests, which may be reached. @default to be added by the caller */
  readonly proxy?: string;
  /**
   * Limits of the operating system, which the plugin of `link-processes.ts` sets: address space of yt-dlp (its JavaScript
   * runtime has more) and processor time.
   */
  readonly limits?: { readonly memoryBytes: number; readonly cpuSeconds: number };
}

/** What a process of yt-dlp is started with. */
interface ProcessHome {
  readonly flags: readonly string[];
  /** All of it: no variable of this process is passed on, no credentials, no proxies, none that Node or Python read. */
  readonly env: Readonly<Record<string, string>>;
}

/** Extractors run JavaScript of sites by this Node. */
const JS_RUNTIME = process.execPath;

/**
 * Writes into the home folder of a process of yt-dlp what it is confined to, and the files that its options name: other
 * users of the machine see the command line, but not the files.
 */
export async function prepareHome(home: string, options: ProcessHomeOptions): Promise<ProcessHome> {
  const { operator, ownPlugins, temporaryDir } = options;
  await writeSandbox(home, options);
  const certificates = operator.extraCaFile && (await writeCertificates(home, operator.extraCaFile));
  const pluginDirs = [ownPlugins, ...(operator.pluginDirs ?? [])];
  return {
    flags: [
      ...['--quiet', '--ignore-config', '--no-update', '--color', 'never'],
      ...['--no-plugin-dirs', ...pluginDirs.flatMap((dir) => ['--plugin-dirs', dir])],
      ...['--cache-dir', join(temporaryDir, 'cache'), '--no-remote-components'],
      ...['--no-js-runtimes', '--js-runtimes', `node:${JS_RUNTIME}`],
      // Half of yt-dlp's own: a manifest that hangs leaves the rest of a resolve the time for the others.
      ...['--socket-timeout', '10', '--retries', '1', '--extractor-retries', '1'],
      ...['--flat-playlist', '--no-playlist', '--no-check-formats', '--no-mark-watched', '--no-wait-for-video'],
      // Some extractors ask for subtitles only then. None needs `--write-auto-subs`, by which YouTube lists every translation.
      ...['--write-subs', '--default-search', 'error', '--format', 'bv*+ba/b/bv*/ba'],
      ...(await writeCookies(home, operator)),
      ...(certificates ? ['--compat-options', 'no-certifi'] : []),
      ...(await writeConfig(home, options)),
    ],
    env: {
      PATH: '/nonexistent',
      HOME: home,
      TMPDIR: home,
      LANG: 'C.UTF-8',
      // The first is read by OpenSSL, which yt-dlp uses with `no-certifi`, the second by curl_cffi.
      ...(certificates && { SSL_CERT_FILE: certificates, REQUESTS_CA_BUNDLE: certificates }),
    },
  };
}

/** The plugin bgutil-ytdlp-pot-provider connects to it where no argument names another port. */
const PROVIDER_PORT = 4416;

/** Writes `sandbox.json`, which `_reelay_sandbox.py` reads. */
async function writeSandbox(home: string, options: ProcessHomeOptions): Promise<void> {
  const { operator, command = [], ownPlugins, temporaryDir, proxy = '', limits } = options;
  const { pluginDirs = [], extractorArgs = [] } = operator;
  await mkdir(temporaryDir, { recursive: true });
  const servers = extractorArgs.flatMap((text) => text.match(/https?:\/\/[^\s;,]+/g) ?? []);
  const runtime = await realpath(JS_RUNTIME);
  const permitted = {
    ...confine('yt-dlp', {
      // A build of Node may come with its libraries.
      executable: [runtime, join(dirname(dirname(runtime)), 'lib')],
      readable: [home, ...pluginDirs],
      reachable: [runtime, ...[...command, ownPlugins, ...pluginDirs].filter(isAbsolute)],
    }),
    temporary: [CHANGE, temporaryDir],
    ports: [...[...servers, proxy].flatMap(portOf), ...(pluginDirs.length > 0 ? [PROVIDER_PORT] : [])],
    limits,
  };
  await writeFile(join(home, 'sandbox.json'), JSON.stringify(permitted), { mode: 0o600 });
}

function portOf(url: string): number[] {
  if (!URL.canParse(url)) return [];
  const { protocol, port } = new URL(url);
  return [Number(port || (protocol === 'https:' ? 443 : 80))];
}

/** Writes the certificates that yt-dlp is to trust into one file. @returns its path */
async function writeCertificates(home: string, extraCaFile: string): Promise<string> {
  const file = join(home, 'certificates.pem');
  await writeFile(file, [...rootCertificates, await readFile(extraCaFile, 'utf8')].join('\n'));
  return file;
}

/** Copies the cookies, because yt-dlp writes their file when it ends. The last of equal cookies applies. */
async function writeCookies(home: string, { cookiesFile, cookiesDir = [] }: OperatorOptions): Promise<string[]> {
  const files = cookiesFile === undefined ? cookiesDir : [cookiesFile, ...cookiesDir];
  if (files.length === 0) return [];
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const copy = join(home, 'cookies.txt');
  // The first line of each further file is a comment.
  await writeFile(copy, texts.join('\n'), { mode: 0o600 });
  return ['--cookies', copy];
}

/** Writes the options that may hold credentials. @returns the options that read them */
async function writeConfig(home: string, { operator, proxy }: ProcessHomeOptions): Promise<string[]> {
  const { extractorArgs = [] } = operator;
  const options = [
    ...(proxy ? [`--proxy ${quote(proxy)}`] : []),
    ...extractorArgs.map((v) => `--extractor-args ${quote(v)}`),
  ];
  if (options.length === 0) return [];
  const file = join(home, 'yt-dlp.conf');
  await writeFile(file, options.map((line) => `${line}\n`).join(''), { mode: 0o600 });
  return ['--config-locations', file];
}

/** Quotes as `shlex.split` of Python reads it. */
const quote = (text: string): string => `'${text.replaceAll("'", `'"'"'`)}'`;
