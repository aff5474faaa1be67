import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../process/index.ts';
import { unpack } from '../release/index.ts';
import type { YtDlp } from '../tools.ts';
import { compareVersions } from '../versions.ts';

export interface UnpackYtDlpOptions {
  /** A verified release archive. It is deleted once unpacked. */
  readonly archive: string;
  /** The name of the archive in the release, which is that of the program in it plus `.zip`. */
  readonly asset: string;
  /** The version that the program must report. */
  readonly tag: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

const MAX_UNPACKED_BYTES = 2 ** 30;

/** Unpacks a verified release archive for any machine, deletes it, and makes its program executable. @returns its name */
export async function unpackRelease(archive: string, asset: string, folder: string): Promise<string> {
  await unpack(archive, folder, MAX_UNPACKED_BYTES);
  await rm(archive);
  const program = asset.replace(/\.zip$/, '');
  await chmod(join(folder, program), 0o755); // release archives carry no permissions
  return program;
}

/**
 * Unpacks a release archive. Its program must report the version of the tag: signatures do not cover the tag, so that an
 * old release could be served as a new one.
 * @returns how to run it, given the path that the folder will have later
 * @throws Error in one line
 */
export async function unpackYtDlp(options: UnpackYtDlpOptions): Promise<(place: string) => YtDlp> {
  const { archive, asset, tag, folder, signal } = options;
  const program = await unpackRelease(archive, asset, folder);
  const env = { TMPDIR: folder, HOME: folder, LANG: 'C.UTF-8' };
  const said = await run(join(folder, program), ['--ignore-config', '--version'], { env, timeoutMs: 60_000, signal });
  const version = said.toString().trim();
  if (compareVersions(version, tag) !== 0)
    throw new Error(`the release ${tag} reports version ${version.slice(0, 40)}`);
  return (place) => ({ version, command: [join(place, program)], source: 'release' });
}
