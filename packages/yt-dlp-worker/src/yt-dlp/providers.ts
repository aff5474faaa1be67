import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { findOnPath, run } from '../process/program.ts';
import { findPython, type InstallOptions, PYTHON_OF_YT_DLP } from '../process/python.ts';
import { compareVersions, providerInPlace, type SkippedRelease, type ToolProvider, type YtDlp } from '../tools.ts';
import { findLayeredYtDlp } from './layered-yt-dlp.ts';
import { queryYtDlp, readYtDlpVersion } from './query-yt-dlp.ts';
import { assetFor, unpackYtDlp } from './release-archive.ts';
import { createReleases, type ReleasesOptions } from './releases.ts';

export interface ReleaseOptions extends ReleasesOptions {
  /** The release file for this machine; undefined where there is none. */
  readonly asset?: string | undefined;
}

/**
 * The official releases of yt-dlp: the archive is verified by signature and checksum (`releases.ts`), and its program must
 * report the version of the tag (`release-archive.ts`).
 */
export function ytDlpRelease({ asset = assetFor(), ...options }: ReleaseOptions): ToolProvider<YtDlp> {
  const releases = createReleases(options);
  return {
    name: 'release',
    label: 'the official release',
    findNewest: releases.findNewest,
    async fetch(folder, { onBytes, onInstall, signal }) {
      if (!asset) throw new Error(`no build for ${process.platform} ${process.arch}`);
      const tag = await releases.findNewest(signal);
      const archive = join(folder, 'archive.zip');
      await releases.fetch(tag, asset, archive, { onBytes, signal });
      onInstall?.();
      return unpackYtDlp({ archive, asset, tag, folder, signal });
    },
  };
}

/** The first version that can run JavaScript with Node. pip would fall back to any older version that it can install. */
const MIN_VERSION = '2025.11.12';
/**
 * `default` is what YouTube needs; `curl-cffi` imitates the TLS fingerprints of browsers, and lacks wheels for some
 * machines.
 */
const PACKAGES = ['yt-dlp[default,curl-cffi]', 'yt-dlp[default]'] as const;
/** pip's messages when a package is missing for this machine. Other failures would recur with fewer packages. */
const UNMET = /no matching distribution|could not find a version|resolutionimpossible|conflicting/i;

/** The Python that installs and runs yt-dlp from PyPI. @throws Error in one line when there is none that can */
export const pythonForYtDlp = () => findPython({ minVersion: PYTHON_OF_YT_DLP });

/** yt-dlp from PyPI, verified by pip: the registry's checksums over TLS. */
export function ytDlpFromPypi({ channel }: { readonly channel: 'stable' | 'nightly' }): ToolProvider<YtDlp> {
  const select = (signal: AbortSignal): InstallOptions => ({ isPrerelease: channel === 'nightly', signal });
  return {
    name: 'pypi',
    label: 'PyPI',
    async findNewest(signal) {
      const python = await pythonForYtDlp();
      return tryRequirements(signal, (requirement) => python.choose('yt-dlp', requirement, select(signal)));
    },
    findSkipped: (version, signal) => findSkipped(version, select(signal)),
    async fetch(folder, { signal, onBytes, onInstall }) {
      const python = await pythonForYtDlp();
      const selected = { ...select(signal), onBytes, onInstall };
      await tryRequirements(signal, (requirement) => python.install(requirement, folder, selected));
      // Isolated from the environment and from the packages of user and system.
      const commandIn = (dir: string): YtDlp['command'] => [
        python.path,
        '-I',
        '-S',
        join(dir, 'yt_dlp', '__main__.py'),
      ];
      const version = await readYtDlpVersion({ command: commandIn(folder) }, { signal });
      return (place) => ({ version, command: commandIn(place), source: 'pypi' });
    },
  };
}

async function tryRequirements<T>(signal: AbortSignal, work: (requirement: string) => Promise<T>): Promise<T> {
  const [preferred, plain] = PACKAGES;
  try {
    return await work(`${preferred}>=${MIN_VERSION}`);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error && UNMET.test(error.message))) throw error;
    return work(`${plain}>=${MIN_VERSION}`);
  }
}

/** The newest release of PyPI and why pip does not install it, where it is newer than the version that pip chose. */
async function findSkipped(chosen: string, options: InstallOptions): Promise<SkippedRelease | undefined> {
  const python = await pythonForYtDlp();
  const { version, requiresPython } = await python.findNewest('yt-dlp', options);
  if (compareVersions(version, chosen) <= 0) return undefined;
  // The plain package first: what it lacks is the reason also where curl-cffi has no wheel for any release.
  for (const name of PACKAGES.toReversed()) {
    try {
      await python.choose('yt-dlp', `${name}==${version}`, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      const { message } = error as Error;
      const isOfPython = requiresPython !== undefined && /distribution found for yt-dlp(?![\w-])/i.test(message);
      return { version, reason: isOfPython ? `it requires Python ${requiresPython}` : message };
    }
  }
  return undefined;
}

/** The yt-dlp of a release in a read-only folder of an image, whose build has verified it. */
export const ytDlpInFolder = (dir: string): ToolProvider<YtDlp> =>
  providerInPlace('release', 'the image', async (_, folder) => {
    const tool = await findLayeredYtDlp(dir, join(folder, 'home'));
    if (!tool) throw new Error('it has no yt-dlp');
    return tool;
  });

/** The yt-dlp at the path that the operator sets. It is not verified. */
export const ytDlpAtPath = (path: string): ToolProvider<YtDlp> =>
  providerInPlace('path', `the path ${path}`, (signal) => inspectProgram(path, 'path', signal));

/** The yt-dlp on PATH, verified by the package manager, if it is new enough for the worker. */
export const ytDlpOfSystem = (): ToolProvider<YtDlp> =>
  providerInPlace('system', 'the system', async (signal) => {
    const path = await findOnPath('yt-dlp');
    if (!path) throw new Error('not installed');
    return inspectProgram(path, 'system', signal);
  });

/** Flags that the worker needs, which older versions lack. */
const REQUIRED_FLAGS = ['--js-runtimes', '--plugin-dirs'];
/** Scripts that find their interpreter on PATH, which the worker does not have. */
const ENV_SHEBANG = /^#!\s*\/usr\/bin\/env\s+(?:-S\s+)?(\S+)/;

async function inspectProgram(path: string, source: 'path' | 'system', signal: AbortSignal): Promise<YtDlp> {
  const command = await findCommand(path);
  const version = await readYtDlpVersion({ command }, { signal });
  const help = await queryYtDlp({ command }, ['--help'], { signal });
  const missing = REQUIRED_FLAGS.find((flag) => !help.includes(flag));
  if (missing) throw new Error(`yt-dlp ${version.slice(0, 40)} is too old: it lacks ${missing}`);
  return { version, command, source };
}

async function findCommand(path: string): Promise<YtDlp['command']> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
  const [, interpreter] = ENV_SHEBANG.exec(buffer.toString('latin1', 0, bytesRead)) ?? [];
  if (!interpreter) return [path];
  const found = await findOnPath(interpreter);
  if (!found) throw new Error(`its interpreter ${interpreter} is not on PATH`);
  // The interpreter reports its own path: the one found may be a shim that needs PATH too.
  const own = await run(found, ['-c', 'import sys; print(sys.executable)'], { env: { PATH: process.env.PATH } });
  return [own.toString().trim(), path];
}
