import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withLock } from '../../packages/yt-dlp-worker/src/install/version-store.ts';
import type { Ffmpeg, YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import { findOnPath } from './on-path.ts';

const run = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;
const ROOT = fileURLToPath(new URL('../../.data/test-tools', import.meta.url));

let installing: Promise<{ ytDlp: YtDlp; ffmpeg: Ffmpeg }> | undefined;

/** The real tools for tests, installed into `.data` of the repository on first use and looked up once per worker. */
export function installedTools(): Promise<{ ytDlp: YtDlp; ffmpeg: Ffmpeg }> {
  installing ??= install();
  return installing;
}

async function install(): Promise<{ ytDlp: YtDlp; ffmpeg: Ffmpeg }> {
  const python = await print('python3', '-c', 'import sys; print(sys.executable, sys.implementation.cache_tag)');
  const [interpreter = '', tag = ''] = python.split(' ');
  return { ytDlp: await findYtDlp(interpreter, tag), ffmpeg: await findFfmpeg(interpreter, tag) };
}

/** By version and hash, with what it requires: a commit that was green stays green. */
export const PINNED_YT_DLP = fileURLToPath(new URL('yt-dlp.requirements.txt', import.meta.url));

/** @returns a name for the folder, and the arguments of pip */
async function ytDlpRequirement(tag: string, version?: string): Promise<[name: string, ...args: string[]]> {
  if (version) return [`yt-dlp-${version}-${tag}`, `yt-dlp==${version}`];
  // Set by `npm run test:newest`.
  const newest = process.env.TEST_NEWEST_YT_DLP;
  if (newest) return [`yt-dlp-default-${newest}-${tag}`, `yt-dlp[default]==${newest}`];
  const digest = createHash('sha256')
    .update(await readFile(PINNED_YT_DLP))
    .digest('hex');
  return [`yt-dlp-${digest.slice(0, 16)}-${tag}`, '--require-hashes', '-r', PINNED_YT_DLP];
}

async function findYtDlp(python: string, tag: string, pinned?: string): Promise<YtDlp> {
  const dir = await installed(python, ...(await ytDlpRequirement(tag, pinned)));
  // Isolated: no modules of the environment or the directory of the script.
  const command: YtDlp['command'] = [python, '-I', join(dir, 'yt_dlp', '__main__.py')];
  // Without starting it, which imports every extractor.
  const [, version = ''] =
    /^__version__ = '(.+)'/m.exec(await readFile(join(dir, 'yt_dlp', 'version.py'), 'utf8')) ?? [];
  return { version, command, source: 'pypi' };
}

/** Runs a yt-dlp with further packages: the folders of both, and its arguments. */
const WITH_PACKAGES =
  'import runpy, sys; sys.path[:0] = sys.argv[1:3]; del sys.argv[1:3]; runpy.run_module("yt_dlp", run_name="__main__", alter_sys=True)';

/** The yt-dlp of `installedTools` with curl_cffi, as the official builds have it. */
export async function ytDlpWithCurlCffi(): Promise<YtDlp> {
  const { ytDlp } = await installedTools();
  const [python, isolated = '-I', main = ''] = ytDlp.command;
  const tag = await print(python, '-c', 'import sys; print(sys.implementation.cache_tag)');
  const dir = await installed(python, `curl-cffi-${tag}`, 'curl_cffi>=0.10,<0.17');
  return { ...ytDlp, command: [python, isolated, '-c', WITH_PACKAGES, dir, dirname(dirname(main))] };
}

async function findFfmpeg(python: string, tag: string): Promise<Ffmpeg> {
  const found = findOnPath('ffmpeg');
  const real = found && (await realpath(found));
  // The one of PyPI is on the PATH of the tests too.
  const fromSystem = real?.startsWith(ROOT) ? undefined : real;
  const path = fromSystem ?? (await ffmpegFromPip(python, tag));
  const [, version = ''] = /^ffmpeg version (\S+)/.exec(await print(path, '-version')) ?? [];
  const buildId = createHash('sha256')
    .update(await readFile(path))
    .digest('hex')
    .slice(0, 16);
  return { version, path, source: fromSystem ? 'system' : 'pypi', buildId };
}

let newest: Promise<string> | undefined;

/** Path of the newest FFmpeg on PyPI, which a machine with an FFmpeg of its own has beside that one. Looked up once per worker. */
export function newestFfmpeg(): Promise<string> {
  newest ??= installNewestFfmpeg();
  return newest;
}

async function installNewestFfmpeg(): Promise<string> {
  const python = await print('python3', '-c', 'import sys; print(sys.executable, sys.implementation.cache_tag)');
  const [interpreter = '', tag = ''] = python.split(' ');
  return ffmpegFromPip(interpreter, tag);
}

async function ffmpegFromPip(python: string, tag: string): Promise<string> {
  const dir = await installed(python, `ffmpeg-${tag}`, 'imageio-ffmpeg');
  const tell =
    'import sys; sys.path.insert(0, sys.argv[1]); import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())';
  return print(python, '-c', tell, dir);
}

/** Installs a package once; other processes wait meanwhile. */
async function installed(python: string, name: string, ...requirement: string[]): Promise<string> {
  const dir = join(ROOT, name);
  const create = async () => {
    if (!(await isThere(dir))) await installInto(dir, python, requirement);
  };
  if (!(await isThere(dir))) await withLock(`${dir}.lock`, create, { signal: AbortSignal.timeout(INSTALL_TIMEOUT_MS) });
  return dir;
}

async function installInto(dir: string, python: string, requirement: readonly string[]): Promise<void> {
  await mkdir(ROOT, { recursive: true });
  const own = await mkdtemp(`${dir}.`);
  try {
    await run(python, [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--target',
      own,
      ...requirement,
    ]);
    await run(python, ['-m', 'compileall', '-q', own]).catch(() => undefined); // fails for files of other Python versions, which a package may contain
    await rename(own, dir);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

const print = async (program: string, ...args: string[]) => (await run(program, args)).stdout.trim();
