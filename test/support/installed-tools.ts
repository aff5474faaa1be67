import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Ffmpeg, YtDlp } from '../../packages/yt-dlp-worker/src/tools.ts';
import { ensureFolder } from '../origin/media.ts';
import { findOnPath } from './on-path.ts';
import { patchedBy } from './patched-yt-dlp.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../.data/test-tools', import.meta.url));

/** The interpreter, and a name for its version. */
async function findPython(): Promise<readonly [python: string, tag: string]> {
  const said = await print('python3', '-c', 'import sys; print(sys.executable, sys.implementation.cache_tag)');
  const [python = '', tag = ''] = said.split(' ');
  return [python, tag];
}

let installing: Promise<{ ytDlp: YtDlp; ffmpeg: Ffmpeg }> | undefined;

/** The real tools for tests, installed into `.data` of the repository on first use and looked up once per worker. */
export function installedTools(): Promise<{ ytDlp: YtDlp; ffmpeg: Ffmpeg }> {
  installing ??= findPython().then(async (python) => ({
    ytDlp: await findYtDlp(...python),
    ffmpeg: await findFfmpeg(...python),
  }));
  return installing;
}

/** By version and hash, with what it requires: a commit that was green stays green. */
export const PINNED_YT_DLP = fileURLToPath(new URL('yt-dlp.requirements.txt', import.meta.url));

/** @returns a name for the folder, and the arguments of pip */
async function ytDlpRequirement(tag: string): Promise<[name: string, ...args: string[]]> {
  // Set by `npm run test:newest`.
  const newest = process.env.TEST_NEWEST_YT_DLP;
  if (newest) return [`yt-dlp-default-${newest}-${tag}`, `yt-dlp[default]==${newest}`];
  const digest = createHash('sha256')
    .update(await readFile(PINNED_YT_DLP))
    .digest('hex');
  return [`yt-dlp-${digest.slice(0, 16)}-${tag}`, '--require-hashes', '-r', PINNED_YT_DLP];
}

async function findYtDlp(python: string, tag: string): Promise<YtDlp> {
  const dir = await installed(python, ...(await ytDlpRequirement(tag)));
  // Isolated: no modules of the environment or the directory of the script.
  const command: YtDlp['command'] = [python, '-I', join(dir, 'yt_dlp', '__main__.py')];
  // Without starting it, which imports every extractor.
  const [, version = ''] =
    /^__version__ = '(.+)'/m.exec(await readFile(join(dir, 'yt_dlp', 'version.py'), 'utf8')) ?? [];
  return { version, command, source: 'pypi' };
}

/** The yt-dlp of `installedTools` with curl_cffi, as the official builds have it. */
export async function ytDlpWithCurlCffi(): Promise<YtDlp> {
  const { ytDlp } = await installedTools();
  const [python] = ytDlp.command;
  const tag = await print(python, '-c', 'import sys; print(sys.implementation.cache_tag)');
  const dir = await installed(python, `curl-cffi-${tag}`, 'curl_cffi>=0.10,<0.17');
  return patchedBy(ytDlp, 'sys.path.insert(0, sys.argv.pop(1))', dir);
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
  newest ??= findPython().then((python) => ffmpegFromPip(...python));
  return newest;
}

async function ffmpegFromPip(python: string, tag: string): Promise<string> {
  const dir = await installed(python, `ffmpeg-${tag}`, 'imageio-ffmpeg');
  const tell =
    'import sys; sys.path.insert(0, sys.argv[1]); import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())';
  return print(python, '-c', tell, dir);
}

/** Installs a package once; other processes wait meanwhile. */
const installed = (python: string, name: string, ...requirement: string[]): Promise<string> =>
  ensureFolder(join(ROOT, name), async (draft) => {
    const options = ['--quiet', '--disable-pip-version-check', '--target', draft];
    await run(python, ['-m', 'pip', 'install', ...options, ...requirement]);
    await run(python, ['-m', 'compileall', '-q', draft]).catch(() => undefined); // fails for files of other Python versions, which a package may contain
  });

const print = async (program: string, ...args: string[]) => (await run(program, args)).stdout.trim();
