import { join } from 'node:path';
import { findPython, type InstallOptions, run } from '../process/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import type { YtDlp } from '../tools.ts';

/** The first to run JavaScript by Node. Without it, pip would settle for any version whose needs it can meet. */
const OLDEST = '2025.11.12';
/** With what YouTube needs (`default`), and with browsers' TLS fingerprints where there is a wheel for this machine. */
const REQUIREMENTS = [`yt-dlp[default,curl-cffi]>=${OLDEST}`, `yt-dlp[default]>=${OLDEST}`] as const;
/** pip's words when something is missing for this machine; anything else fails the same way with fewer packages. */
const UNMET = /no matching distribution|could not find a version|resolutionimpossible|conflicting/i;

/** yt-dlp from PyPI by pip, which vouches for it: the registry's checksums over TLS. */
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
        // Neither the environment, nor the user's, nor the system's packages: what is in the folder is all there is.
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
