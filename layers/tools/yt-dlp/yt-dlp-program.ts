import { open } from 'node:fs/promises';
import { findOnPath, run } from '../process/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import type { YtDlp } from '../tools.ts';

/** Flags that the worker stands on; older versions do not know them. */
const NEEDED = ['--js-runtimes', '--plugin-dirs'];
/** Programs that find their interpreter by the search path, which a worker does not have. */
const BY_SEARCH_PATH = /^#!\s*\/usr\/bin\/env\s+(?:-S\s+)?(\S+)/;

/** The yt-dlp that the operator names; nobody else vouches for it. */
export const ytDlpAtPath = (path: string): ToolProvider<YtDlp> => ({
  name: 'path',
  label: `the path ${path}`,
  fetch: async (_, { signal }) => {
    const tool = await inspect(path, 'path', signal);
    return () => tool;
  },
});

/** The yt-dlp that the system has, for which its package manager vouches, if it is new enough to be a worker. */
export const ytDlpOfSystem = (): ToolProvider<YtDlp> => ({
  name: 'system',
  label: 'the system',
  async fetch(_, { signal }) {
    const path = await findOnPath('yt-dlp');
    if (!path) throw new Error('it has none');
    const tool = await inspect(path, 'system', signal);
    return () => tool;
  },
});

async function inspect(path: string, source: 'path' | 'system', signal: AbortSignal): Promise<YtDlp> {
  const command = await commandOf(path);
  const [program, ...before] = command;
  const ask = async (flag: string) => {
    const options = { env: { LANG: 'C.UTF-8' }, timeout: 60_000, signal };
    return (await run(program, [...before, '--ignore-config', flag], options)).toString();
  };
  const version = (await ask('--version')).trim();
  const help = await ask('--help');
  const missing = NEEDED.find((flag) => !help.includes(flag));
  if (missing) throw new Error(`yt-dlp ${version.slice(0, 40)} is too old: it does not know ${missing}`);
  return { version, command, source };
}

async function commandOf(path: string): Promise<YtDlp['command']> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
  const [, interpreter] = BY_SEARCH_PATH.exec(buffer.toString('latin1', 0, bytesRead)) ?? [];
  if (!interpreter) return [path];
  const found = await findOnPath(interpreter);
  if (!found) throw new Error(`it needs ${interpreter}, which is not there`);
  // Asked for itself: what is found may be a shim that needs the search path too.
  const own = await run(found, ['-c', 'import sys; print(sys.executable)'], { env: { PATH: process.env.PATH } });
  return [own.toString().trim(), path];
}
