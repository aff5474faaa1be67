import { join } from 'node:path';
import { createReleases, type ReleasesOptions } from '../release/index.ts';
import type { ToolProvider } from '../tool-provider.ts';
import type { YtDlp } from '../tools.ts';
import { unpackYtDlp } from './unpack-yt-dlp.ts';

export interface ReleaseOptions extends ReleasesOptions {
  /** The file of a release for this machine; absent when there is none. */
  readonly asset?: string | undefined;
}

/**
 * yt-dlp's own releases: the archive must be verified (`releases.ts`), and what is in it must call itself by the tag it
 * was fetched under (`unpack-yt-dlp.ts`).
 *
 * The unpacked build rather than the single file: that one unpacks itself anew at every start.
 */
export function ytDlpRelease({ asset = assetFor(), ...options }: ReleaseOptions): ToolProvider<YtDlp> {
  const releases = createReleases(options);
  return {
    name: 'release',
    label: 'the official release',
    findNewest: releases.findNewest,
    async fetch(folder, { onBytes, signal }) {
      if (!asset) throw new Error(`it has no build for ${process.platform} ${process.arch}`);
      const tag = await releases.findNewest(signal);
      const archive = join(folder, 'archive.zip');
      await releases.fetch(tag, asset, archive, { onBytes, signal });
      return unpackYtDlp({ archive, asset, tag, folder, signal });
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
