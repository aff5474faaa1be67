import { join } from 'node:path';
import { createReleases, type ReleasesOptions } from '../release/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import type { YtDlp } from '../tools.ts';
import { unpackYtDlp } from './unpack-yt-dlp.ts';

export interface ReleaseOptions extends ReleasesOptions {
  /** The release file for this machine; undefined where there is none. */
  readonly asset?: string | undefined;
}

/**
 * The official releases of yt-dlp: the archive is verified by signature and checksum (`releases.ts`), and its program must
 * report the version of the tag (`unpack-yt-dlp.ts`).
 *
 * The directory build rather than the single file, which unpacks itself at every start.
 */
export function ytDlpRelease({ asset = assetFor(), ...options }: ReleaseOptions): ToolProvider<YtDlp> {
  const releases = createReleases(options);
  return {
    name: 'release',
    label: 'the official release',
    findNewest: releases.findNewest,
    async fetch(folder, { onBytes, signal }) {
      if (!asset) throw new Error(`no build for ${process.platform} ${process.arch}`);
      const tag = await releases.findNewest(signal);
      const archive = join(folder, 'archive.zip');
      await releases.fetch(tag, asset, archive, { onBytes, signal });
      return unpackYtDlp({ archive, asset, tag, folder, signal });
    },
  };
}

/** The release file with the directory build for a machine: Linux by C library, macOS for both processors. */
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
