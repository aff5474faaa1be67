import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../process/index.ts';
import { unpack } from '../release/index.ts';
import type { YtDlp } from '../tools.ts';
import { compareVersions } from '../versions.ts';

export interface UnpackYtDlpOptions {
  /** A verified archive of a release; it is gone afterwards. */
  readonly archive: string;
  /** The archive's name in the release: the program in it has the same. */
  readonly asset: string;
  /** What it must call itself. */
  readonly tag: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}

const UNPACKED_BYTES = 2 ** 30;

/**
 * Unpacks the archive of a release, whose program must call itself by its tag, so that nobody serves an old release as a
 * new one. Gives how to name it from wherever its folder ends up.
 * @throws Error in one line
 */
export async function unpackYtDlp(options: UnpackYtDlpOptions): Promise<(place: string) => YtDlp> {
  const { archive, asset, tag, folder, signal } = options;
  await unpack(archive, folder, UNPACKED_BYTES);
  await rm(archive);

  const program = asset.replace(/\.zip$/, '');
  await chmod(join(folder, program), 0o755); // archives of releases carry no permissions
  const env = { TMPDIR: folder, HOME: folder, LANG: 'C.UTF-8' };
  const said = await run(join(folder, program), ['--ignore-config', '--version'], { env, timeoutMs: 60_000, signal });
  const version = said.toString().trim();
  if (compareVersions(version, tag) !== 0) throw new Error(`the release ${tag} calls itself ${version.slice(0, 40)}`);
  return (place) => ({ version, command: [join(place, program)], source: 'release' });
}
