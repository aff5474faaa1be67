import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ensureFolder } from '../origin/media.ts';
import { installPythonPackages } from './python-packages.ts';

const run = promisify(execFile);
const DIR = resolve(import.meta.dirname, '../../.data/test-tools');
const PYINSTALLER = 'pyinstaller==6.22.3';
const YT_DLP_VERSION = '2026.8.19';
/** Name of the program in a release for Linux. */
const PROGRAM = 'yt-dlp_linux';

/** yt-dlp like the directory build of a release for Linux: it brings its Python. */
export interface FrozenYtDlp {
  /** Contains the program and `_internal`, like a Lambda layer. */
  readonly dir: string;
  readonly program: string;
  readonly version: string;
  /** A zip of the folder, as a release has it. */
  readonly archive: string;
}

/** Freezes yt-dlp with PyInstaller, as its releases are made; once per version. */
export async function frozenYtDlp(): Promise<FrozenYtDlp> {
  const dir = await ensureFolder(join(DIR, `frozen-yt-dlp-${YT_DLP_VERSION}`), freeze);
  const layer = join(dir, PROGRAM);
  const program = join(layer, PROGRAM);
  const version = (await run(program, ['--ignore-config', '--version'])).stdout.trim();
  return { dir: layer, program, version, archive: join(dir, `${PROGRAM}.zip`) };
}

async function freeze(work: string): Promise<void> {
  const python = await installPythonPackages('frozen-yt-dlp', PYINSTALLER, `yt-dlp[default]==${YT_DLP_VERSION}`);
  await mkdir(work);
  const entry = join(work, 'entry.py');
  const find = 'import yt_dlp, shutil, sys; shutil.copy(yt_dlp.__path__[0] + "/__main__.py", sys.argv[1])';
  await run(python, ['-c', find, entry]);
  const options = ['--noconfirm', '--log-level', 'ERROR', '--onedir', '--name', PROGRAM];
  const folders = ['--distpath', work, '--workpath', join(work, 'build'), '--specpath', work];
  await run(python, ['-m', 'PyInstaller', ...options, ...folders, entry]);
  await run(python, ['-c', ZIP, join(work, PROGRAM), join(work, `${PROGRAM}.zip`)]);
  await rm(join(work, 'build'), { recursive: true });
}

/** Without links and permissions, like the archives of releases. */
const ZIP = `
import os, sys, zipfile
folder, target = sys.argv[1:]
with zipfile.ZipFile(target, 'w', zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
    for place, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(place, name)
            with open(path, 'rb') as file:
                archive.writestr(os.path.relpath(path, folder), file.read())`;
