import { open } from 'node:fs/promises';
import { findOnPath, run } from '../process/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import type { YtDlp } from '../tools.ts';

/** Flags that the worker needs, which older versions lack. */
const REQUIRED_FLAGS = ['--js-runtimes', '--plugin-dirs'];
/** Scripts that find their interpreter on PATH, which the worker does not have. */
const ENV_SHEBANG = /^#!\s*\/usr\/bin\/env\s+(?:-S\s+)?(\S+)/;

/** The yt-dlp at the path that the operator sets. It is not verified. */
export const ytDlpAtPath = (path: string): ToolProvider<YtDlp> => ({
  name: 'path',
  label: `the path ${path}`,
  fetch: async (_, { signal }) => {
    const tool = await inspect(path, 'path', signal);
    return () => tool;
  },
});

/** The yt-dlp on PATH, verified by the package manager, if it is new enough for the worker. */
export const ytDlpOfSystem = (): ToolProvider<YtDlp> => ({
  name: 'system',
  label: 'the system',
  async fetch(_, { signal }) {
    const path = await findOnPath('yt-dlp');
    if (!path) throw new Error('not installed');
    const tool = await inspect(path, 'system', signal);
    return () => tool;
  },
});

async function inspect(path: string, source: 'path' | 'system', signal: AbortSignal): Promise<YtDlp> {
  const command = await commandOf(path);
  const [program, ...before] = command;
  const runWith = async (flag: string) => {
    const options = { env: { LANG: 'C.UTF-8' }, timeoutMs: 60_000, signal };
    return (await run(program, [...before, '--ignore-config', flag], options)).toString();
  };
  const version = (await runWith('--version')).trim();
  const help = await runWith('--help');
  const missing = REQUIRED_FLAGS.find((flag) => !help.includes(flag));
  if (missing) throw new Error(`yt-dlp ${version.slice(0, 40)} is too old: it lacks ${missing}`);
  return { version, command, source };
}

async function commandOf(path: string): Promise<YtDlp['command']> {
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
