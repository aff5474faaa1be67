import { join } from 'node:path';
import { findPython, type InstallOptions, run } from '../process/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import type { YtDlp } from '../tools.ts';

/** The first version that can run JavaScript with Node. pip would fall back to any older version that it can install. */
const MIN_VERSION = '2025.11.12';
/**
 * `default` is what YouTube needs; `curl-cffi` imitates the TLS fingerprints of browsers, and lacks wheels for some
 * machines.
 */
const REQUIREMENTS = [`yt-dlp[default,curl-cffi]>=${MIN_VERSION}`, `yt-dlp[default]>=${MIN_VERSION}`] as const;
/** pip's messages when a package is missing for this machine. Other failures would recur with fewer packages. */
const UNMET = /no matching distribution|could not find a version|resolutionimpossible|conflicting/i;

/** yt-dlp from PyPI, verified by pip: the registry's checksums over TLS. */
export function ytDlpFromPypi({ channel }: { readonly channel: 'stable' | 'nightly' }): ToolProvider<YtDlp> {
  const selection = (signal: AbortSignal): InstallOptions => ({ pre: channel === 'nightly', signal });
  return {
    name: 'pypi',
    label: 'PyPI',
    async findNewest(signal) {
      const python = await findPython();
      return eachRequirement(signal, (requirement) => python.choose('yt-dlp', requirement, selection(signal)));
    },
    async fetch(folder, { signal }) {
      const python = await findPython();
      await eachRequirement(signal, (requirement) => python.install(requirement, folder, selection(signal)));
      const command = (place: string): YtDlp['command'] => [
        python.path,
        // Isolated from the environment and from the packages of user and system.
        ...['-I', '-S'],
        join(place, 'yt_dlp', '__main__.py'),
      ];
      const [program, ...before] = command(folder);
      const version = await run(program, [...before, '--ignore-config', '--version'], { timeoutMs: 60_000, signal });
      return (place) => ({ version: version.toString().trim(), command: command(place), source: 'pypi' });
    },
  };
}

async function eachRequirement<T>(signal: AbortSignal, work: (requirement: string) => Promise<T>): Promise<T> {
  const [preferred, plain] = REQUIREMENTS;
  try {
    return await work(preferred);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Error && UNMET.test(error.message))) throw error;
    return work(plain);
  }
}
