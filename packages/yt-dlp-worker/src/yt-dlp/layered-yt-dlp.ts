import { access, chmod, constants, copyFile, mkdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isExecutable } from '../process/program.ts';
import { isReleaseTag, type YtDlp } from '../tools.ts';
import { readYtDlpVersion } from './query-yt-dlp.ts';

/** Programs of the unpacked releases for Linux; each needs `_internal` beside it. */
const PROGRAMS = ['yt-dlp_linux', 'yt-dlp_linux_aarch64'];

/** The version of a yt-dlp whose version has not been read. */
const UNKNOWN_VERSION = 'of the layer';

/**
 * The yt-dlp of a release that was unpacked into a read-only folder, such as a Lambda layer. Release archives carry no
 * permissions: a program that is not executable is copied, with a link to the rest of the release beside it. The program is
 * not run: on one core its start takes longer than all else before the worker's, so its version stays unknown.
 * @param stagingDir for the copy
 * @returns undefined when the folder has no yt-dlp
 */
export async function locateLayeredYtDlp(dir: string, stagingDir: string): Promise<YtDlp | undefined> {
  for (const name of PROGRAMS) {
    if (!(await isThere(join(dir, name)))) continue;
    const program = (await isExecutable(join(dir, name))) ? join(dir, name) : await stage(dir, name, stagingDir);
    return { version: UNKNOWN_VERSION, command: [program], source: 'release' };
  }
  return undefined;
}

/**
 * The same yt-dlp with the version that it reports.
 * @param homeDir created if necessary
 * @throws Error in one line when it does not run
 */
export async function readVersion(ytDlp: YtDlp, homeDir: string): Promise<YtDlp> {
  await mkdir(homeDir, { recursive: true });
  const version = await readYtDlpVersion(ytDlp, { home: homeDir });
  if (!isReleaseTag(version)) throw new Error(`it reports version ${version.slice(0, 40)}`);
  return { ...ytDlp, version };
}

/** The located yt-dlp with its version. @throws Error in one line when it does not run */
export async function findLayeredYtDlp(dir: string, stagingDir: string): Promise<YtDlp | undefined> {
  const located = await locateLayeredYtDlp(dir, stagingDir);
  return located && readVersion(located, stagingDir);
}

async function stage(dir: string, name: string, stagingDir: string): Promise<string> {
  const program = join(stagingDir, name);
  await rm(stagingDir, { recursive: true, force: true });
  await mkdir(stagingDir, { recursive: true });
  await copyFile(join(dir, name), program);
  await symlink(join(dir, '_internal'), join(stagingDir, '_internal'));
  await chmod(program, 0o755);
  return program;
}

const isThere = (path: string): Promise<boolean> =>
  access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
