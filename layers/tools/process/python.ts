import { compareVersions } from '../versions.ts';
import { run } from './program.ts';

/** yt-dlp of today starts with no older one. */
const OLDEST = '3.10';
const ABOUT = `
import sys, importlib.util
print(sys.executable, '%d.%d.%d' % sys.version_info[:3], importlib.util.find_spec('pip') is not None, sep='\\n')`;

/** Milliseconds: packages are some 90 MB, and a line may be slow. */
const PIP_TIMEOUT = 10 * 60_000;

/** What pip must know to reach the registry that this machine is set up for, and nothing else of the environment. */
const PIP_ENVIRONMENT =
  /^(PATH|HOME|LANG|LC_ALL|TMPDIR|XDG_CONFIG_(HOME|DIRS)|PIP_\w+|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|(https?|all|no)_proxy)$/i;

/** An interpreter that can install packages. */
export interface Python {
  /** The interpreter itself, not a shim in front of it: a worker has no search path. */
  readonly path: string;
  /**
   * Installs packages with all they need into a folder of their own, wheels only: nothing of theirs runs meanwhile.
   *
   * pip talks to its registry itself, as the machine is configured, and not through the egress guard: a registry inside
   * a private network is the operator's choice, and no user's URL reaches pip.
   */
  install(requirement: string, target: string, options?: InstallOptions): Promise<void>;
  /** The version of a package that `install` would choose: the newest whose own needs can be met, too. */
  choose(name: string, requirement: string, options?: InstallOptions): Promise<string>;
}

export interface InstallOptions {
  /** Versions before a release, too. */
  readonly pre?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** @throws Error in one line when there is no interpreter, an old one, or one without pip */
export async function findPython(program = 'python3', environment = process.env): Promise<Python> {
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => PIP_ENVIRONMENT.test(name)));
  const about = await run(program, ['-c', ABOUT], { env }).catch((cause: Error) => {
    throw new Error(isMissing(cause) ? 'there is no Python' : `Python does not run: ${cause.message}`, { cause });
  });
  const [path = '', version = '', hasPip] = about.toString().trim().split('\n');
  if (compareVersions(version, OLDEST) < 0) throw new Error(`Python ${version} is too old (${OLDEST} or newer)`);
  if (hasPip !== 'True') throw new Error('Python has no pip');

  const pip = (args: readonly string[], signal?: AbortSignal) =>
    run(path, ['-m', 'pip', '--disable-pip-version-check', '--no-input', '--quiet', ...args], {
      ...{ env, timeoutMs: PIP_TIMEOUT, signal },
    });
  const selection = ({ pre }: InstallOptions) => ['--only-binary', ':all:', ...(pre ? ['--pre'] : [])];
  return {
    path,
    async install(requirement, target, options = {}) {
      await pip(['install', '--no-compile', '--target', target, ...selection(options), requirement], options.signal);
      // A package may carry files for another Python: what does not compile is not meant for this one.
      await run(path, ['-m', 'compileall', '-q', target], {
        env,
        timeoutMs: PIP_TIMEOUT,
        signal: options.signal,
      }).catch(() => options.signal?.throwIfAborted());
    },
    async choose(name, requirement, options = {}) {
      const plan = ['install', '--dry-run', '--ignore-installed', '--report', '-', ...selection(options), requirement];
      const { install } = JSON.parse((await pip(plan, options.signal)).toString()) as Report;
      const version = install.find(({ metadata }) => metadata.name === name)?.metadata.version;
      if (!version) throw new Error('pip names no version');
      return version;
    },
  };
}

/** What pip would do (its installation report, version 1). */
interface Report {
  readonly install: readonly { readonly metadata: { readonly name: string; readonly version: string } }[];
}

const isMissing = ({ cause }: Error): boolean => (cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
