import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './program.ts';
import { createReleases, type ReleasesOptions } from './releases.ts';
import type { Source } from './source.ts';
import type { YtDlp } from './tools.ts';
import { unpack } from './unpack.ts';
import { compareVersions } from './versions.ts';

export interface ReleaseOptions extends ReleasesOptions {
  /** The file of a release for this machine; absent when there is none. */
  readonly asset?: string | undefined;
}

const UNPACKED_BYTES = 2 ** 30;

/**
 * yt-dlp's own releases: the archive must be verified (`releases.ts`), and what is in it must call itself by the tag it
 * was fetched under, so that nobody serves an old release as a new one.
 *
 * The unpacked build rather than the single file: that one unpacks itself anew at every start.
 */
export function ytDlpRelease({ asset = assetFor(), ...options }: ReleaseOptions): Source<YtDlp> {
  const releases = createReleases(options);
  return {
    name: 'release',
    label: 'the official release',
    newest: releases.newest,
    async fetch(folder, { onBytes, signal }) {
      if (!asset) throw new Error(`it has no build for ${process.platform} ${process.arch}`);
      const tag = await releases.newest(signal);
      const archive = join(folder, 'archive.zip');
      await releases.fetch(tag, asset, archive, { onBytes, signal });
      await unpack(archive, folder, UNPACKED_BYTES);
      await rm(archive);

      const program = asset.replace(/\.zip$/, '');
      await chmod(join(folder, program), 0o755); // archives of releases carry no permissions
      const env = { TMPDIR: folder, HOME: folder, LANG: 'C.UTF-8' };
      const said = await run(join(folder, program), ['--ignore-config', '--version'], { env, timeout: 60_000, signal });
      const version = said.toString().trim();
      if (compareVersions(version, tag) !== 0)
        throw new Error(`the release ${tag} calls itself ${version.slice(0, 40)}`);
      return (place) => ({ version, command: [join(place, program)], source: 'release' });
    },
  };
}

/** The unpacked build of a release for a machine: Linux by its C library, macOS for both processors. */
export function assetFor(
  platform = process.platform,
  arch: string = process.arch,
  isMusl = hasMusl(),
): string | undefined {
  if (platform === 'darwin') return 'yt-dlp_macos.zip';
  const suffix = new Map([
    ['x64', ''],
    ['arm64', '_aarch64'],
  ]).get(arch);
  if (platform !== 'linux' || suffix === undefined) return undefined;
  return `yt-dlp_${isMusl ? 'musllinux' : 'linux'}${suffix}.zip`;
}

function hasMusl(): boolean {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return process.platform === 'linux' && header?.glibcVersionRuntime === undefined;
}
