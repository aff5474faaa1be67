import { join } from 'node:path';
import { run } from './program.ts';
import { findPython, type InstallOptions } from './python.ts';
import type { Source } from './source.ts';
import type { YtDlp } from './tools.ts';

/** With what YouTube needs (`default`), and with browsers' TLS fingerprints where there is a wheel for this machine. */
const REQUIREMENTS = ['yt-dlp[default,curl-cffi]', 'yt-dlp[default]'] as const;

/** yt-dlp from PyPI by pip, which vouches for it: the registry's checksums over TLS. */
export function ytDlpFromPypi({ channel }: { readonly channel: 'stable' | 'nightly' }): Source<YtDlp> {
  const selection = (signal: AbortSignal): InstallOptions => ({ pre: channel === 'nightly', signal });
  return {
    name: 'pypi',
    label: 'PyPI',
    newest: async (signal) => (await findPython()).newest('yt-dlp', selection(signal)),
    async fetch(folder, { signal }) {
      const python = await findPython();
      const [preferred, plain] = REQUIREMENTS;
      await python.install(preferred, folder, selection(signal)).catch((error) => {
        signal.throwIfAborted();
        // Only where something of the first is missing for this machine; anything else fails the same way again.
        if (!/no matching distribution|could not find a version/i.test(error.message)) throw error;
        return python.install(plain, folder, selection(signal));
      });
      const command = (place: string): YtDlp['command'] => [
        python.path,
        // Neither the environment, nor the user's, nor the system's packages: what is in the folder is all there is.
        ...['-I', '-S'],
        join(place, 'yt_dlp', '__main__.py'),
      ];
      const [program, ...before] = command(folder);
      const version = await run(program, [...before, '--ignore-config', '--version'], { timeout: 60_000, signal });
      return (place) => ({ version: version.toString().trim(), command: command(place), source: 'pypi' });
    },
  };
}
