import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, rm, symlink } from 'node:fs/promises';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installedTools } from './installed-tools.ts';
import { isThere } from './on-path.ts';

const run = promisify(execFile);
const FOLDER = resolve(import.meta.dirname, '../../.data/test-programs');
/** ffprobe of npm, for machines without it. Tests only. */
const FFPROBE = { package: `@ffprobe-installer/${process.platform}-${process.arch}`, version: '5.2.0' };

/**
 * Returns the PATH of the tests. FFmpeg and ffprobe create and inspect media, so they are installed on a machine
 * without them.
 */
export async function pathWithPrograms(): Promise<string> {
  const path = await pathWithPython(process.env.PATH ?? '');
  if (isThere('ffmpeg') && isThere('ffprobe')) return path;
  await mkdir(FOLDER, { recursive: true });
  if (!isThere('ffmpeg')) await place('ffmpeg', (await installedTools()).ffmpeg.path);
  if (!isThere('ffprobe')) await place('ffprobe', await fetchFfprobe());
  return FOLDER + delimiter + path;
}

/** Puts the folder of Python first where `python3` is a shim, which takes longer to start than Python itself. */
async function pathWithPython(path: string): Promise<string> {
  const { stdout } = await run('python3', ['-c', 'import sys; print(sys.executable)']).catch(() => ({ stdout: '' }));
  const folder = dirname(stdout.trim());
  const found = path.split(delimiter).find((entry) => existsSync(join(entry, 'python3')));
  return stdout.trim() === '' || folder === found ? path : folder + delimiter + path;
}

async function fetchFfprobe(): Promise<string> {
  process.stdout.write('Fetching ffprobe\n');
  const args = [
    'install',
    '--no-save',
    '--no-package-lock',
    '--prefix',
    FOLDER,
    `${FFPROBE.package}@${FFPROBE.version}`,
  ];
  await run('npm', args, { shell: process.platform === 'win32' });
  const program = resolve(FOLDER, 'node_modules', FFPROBE.package, 'ffprobe');
  await chmod(program, 0o755); // its install script would have done that
  return program;
}

async function place(name: string, program: string): Promise<void> {
  const link = resolve(FOLDER, name);
  await rm(link, { force: true });
  await symlink(program, link);
}
