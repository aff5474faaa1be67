import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compareVersions } from '../tools.ts';
import { run } from './program.ts';

/** Required by current versions of yt-dlp: pip would choose an older one for good. */
export const PYTHON_OF_YT_DLP = '3.11';
/** For other packages. */
const MIN_VERSION = '3.10';
const DESCRIBE_SCRIPT = `
import sys, importlib.util
print(sys.executable, '%d.%d.%d' % sys.version_info[:3], importlib.util.find_spec('pip') is not None, sep='\\n')`;

/** Packages of some 90 MB take minutes on a slow connection. */
const PIP_TIMEOUT_MS = 10 * 60_000;

const REPORT_INTERVAL_MS = 500;
/** pip's line before it unpacks what it has received. */
const INSTALLING = /^Installing collected packages/m;
/** pip's folders of downloads, within its temporary folder. */
const DOWNLOADS = /[\\/]pip-unpack-[^\\/]+$/;

/** The variables that configure how pip reaches its registry. No others are passed on. */
const PIP_ENVIRONMENT =
  /^(PATH|HOME|LANG|LC_ALL|TMPDIR|XDG_CONFIG_(HOME|DIRS)|PIP_\w+|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|(https?|all|no)_proxy)$/i;

/** An interpreter that can install packages. */
export interface Python {
  /** The interpreter itself rather than a shim: the worker runs without PATH. */
  readonly path: string;
  readonly version: string;
  /**
   * Installs packages with their dependencies into a folder. Wheels only: no code of a package runs during the install.
   *
   * pip connects to its registry directly, as the machine is configured, and not through the egress guard: the operator
   * may use a registry in a private network, and no URL of a user reaches pip.
   */
  install(requirement: string, target: string, options?: InstallOptions): Promise<void>;
  /** The version that `install` would choose: the newest whose dependencies can be met. */
  choose(name: string, requirement: string, options?: InstallOptions): Promise<string>;
  /** The newest version in the registry that has a wheel, whatever it requires. */
  findNewest(name: string, options?: InstallOptions): Promise<PublishedVersion>;
}

interface PublishedVersion {
  readonly version: string;
  /** The versions of Python that it runs on, such as `>=3.12`. */
  readonly requiresPython?: string | undefined;
}

export interface InstallOptions {
  /** Include pre-releases. */
  readonly isPrerelease?: boolean;
  /** SHA-256 of the wheel in hex; no dependencies are installed then. @default what the registry has */
  readonly sha256?: string;
  /** The platform tag of the wheel, to install for another machine. @default this machine's */
  readonly platform?: string;
  readonly signal?: AbortSignal | undefined;
  /** Install the package alone. */
  readonly hasNoDependencies?: boolean;
  /** Called with the bytes received so far; with their total where `hasNoDependencies`, else pip does not know it. */
  readonly onBytes?: (bytes: number, totalBytes?: number) => void;
  /** Called once all is received. */
  readonly onInstall?: (() => void) | undefined;
}

interface FindPythonOptions {
  /** @default '3.10' */
  readonly minVersion?: string;
  /** @default python3, as PATH has it */
  readonly program?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Finds a Python interpreter. @throws Error in one line when there is none, it is too old, or it has no pip */
export async function findPython(options: FindPythonOptions = {}): Promise<Python> {
  const { minVersion = MIN_VERSION, program = 'python3', environment = process.env } = options;
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => PIP_ENVIRONMENT.test(name)));
  const about = await run(program, ['-c', DESCRIBE_SCRIPT], { env }).catch((cause: Error) => {
    throw new Error(isMissing(cause) ? 'there is no Python' : `Python does not run: ${cause.message}`, { cause });
  });
  const [path = '', version = '', hasPip] = about.toString().trim().split('\n');
  if (compareVersions(version, minVersion) < 0)
    throw new Error(`Python ${version} is too old (${minVersion} or newer)`);
  if (hasPip !== 'True') throw new Error('Python has no pip');

  const pip = (args: readonly string[], signal?: AbortSignal, options: PipOptions = {}) =>
    run(path, ['-m', 'pip', '--disable-pip-version-check', '--no-input', ...args], {
      timeoutMs: PIP_TIMEOUT_MS,
      signal,
      onOutput: options.onOutput,
      env: options.tmpDir === undefined ? env : { ...env, TMPDIR: options.tmpDir, PYTHONUNBUFFERED: '1' },
    });
  /** Reports the bytes of an install: pip keeps its downloads in a temporary folder until it ends. */
  const pipWithProgress = async (args: readonly string[], target: string, options: InstallOptions) => {
    const { onBytes = () => undefined, onInstall, hasNoDependencies, signal } = options;
    const tmpDir = join(target, '.pip');
    await mkdir(tmpDir);
    let said = '';
    let isReceived = false;
    const report = async () => {
      const bytes = await countDownloaded(tmpDir);
      const total = hasNoDependencies ? sizeIn(said) : undefined;
      if (!isReceived && bytes > 0) onBytes(bytes, total && Math.max(total, bytes));
    };
    const timer = setInterval(() => void report(), REPORT_INTERVAL_MS);
    const onOutput = (text: string) => {
      said += text;
      if (!isReceived && INSTALLING.test(said)) {
        isReceived = true;
        onInstall?.();
      }
    };
    try {
      await pip([...args, '--progress-bar', 'off'], signal, { tmpDir, onOutput });
    } finally {
      isReceived = true;
      clearInterval(timer);
      await rm(tmpDir, { recursive: true, force: true });
    }
  };
  const selection = ({ isPrerelease, platform, hasNoDependencies }: InstallOptions) => [
    ...['--only-binary', ':all:'],
    ...(isPrerelease ? ['--pre'] : []),
    ...(platform ? ['--platform', platform] : []),
    ...(hasNoDependencies ? ['--no-deps'] : []),
  ];
  /** What pip would install of a package. */
  const plan = async (name: string, args: readonly string[], options: InstallOptions) => {
    const dryRun = [
      '--quiet',
      'install',
      '--dry-run',
      '--ignore-installed',
      '--report',
      '-',
      ...selection(options),
      ...args,
    ];
    const { install } = JSON.parse((await pip(dryRun, options.signal)).toString()) as Report;
    const planned = install.find(({ metadata }) => metadata.name === name)?.metadata;
    if (!planned) throw new Error('pip reports no version');
    return planned;
  };
  return {
    path,
    version,
    async install(requirement, target, options = {}) {
      const install = ['install', '--no-compile', '--target', target, ...selection(options)];
      if (!options.sha256) await pipWithProgress([...install, requirement], target, options);
      else {
        // pip accepts hashes in a file only.
        const file = join(target, '.requirements.txt');
        await writeFile(file, `${requirement} --hash=sha256:${options.sha256}`);
        await pip(['--quiet', ...install, '--no-deps', '--require-hashes', '--requirement', file], options.signal);
        await rm(file);
      }
      // Failures are ignored: packages may contain files for other versions of Python.
      await run(path, ['-m', 'compileall', '-q', target], {
        env,
        timeoutMs: PIP_TIMEOUT_MS,
        signal: options.signal,
      }).catch(() => options.signal?.throwIfAborted());
    },
    choose: async (name, requirement, options = {}) => (await plan(name, [requirement], options)).version,
    async findNewest(name, options = {}) {
      const found = await plan(name, ['--no-deps', '--ignore-requires-python', name], options);
      return { version: found.version, requiresPython: found.requires_python };
    },
  };
}

interface PipOptions {
  /** Where pip has its temporary folders. */
  readonly tmpDir?: string;
  readonly onOutput?: (text: string) => void;
}

/** The bytes of the files in pip's folders of downloads; 0 while they change. */
async function countDownloaded(tmpDir: string): Promise<number> {
  try {
    const entries = await readdir(tmpDir, { recursive: true, withFileTypes: true });
    const downloads = entries.filter((entry) => entry.isFile() && DOWNLOADS.test(entry.parentPath));
    const sizes = await Promise.all(
      downloads.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    return 0;
  }
}

const UNITS: Readonly<Record<string, number>> = { bytes: 1, kB: 1e3, MB: 1e6, GB: 1e9 };

/** The bytes in pip's line `Downloading NAME.whl (29.5 MB)`. */
function sizeIn(said: string): number | undefined {
  const [, amount, unit = ''] = /^ *Downloading \S+ \(([\d.]+) (bytes|kB|MB|GB)\)/m.exec(said) ?? [];
  return amount === undefined ? undefined : Number(amount) * (UNITS[unit] ?? 1);
}

/** pip's installation report, version 1. */
interface Report {
  readonly install: readonly {
    readonly metadata: { readonly name: string; readonly version: string; readonly requires_python?: string };
  }[];
}

const isMissing = ({ cause }: Error): boolean => (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
