import { chmod, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Download, downloadBytes, downloadFile, follow } from './download.ts';
import { run } from './program.ts';
import { RELEASE_KEY } from './release-key.ts';
import { checkSignature, digestOf } from './signature.ts';
import type { Source } from './source.ts';
import type { YtDlp } from './tools.ts';
import { unpack } from './unpack.ts';
import { compareVersions, isReleaseTag } from './versions.ts';

export interface ReleaseOptions {
  readonly download: Download;
  readonly channel: 'stable' | 'nightly';
  /** Where releases are. @default yt-dlp's on GitHub */
  readonly url?: string;
  /** The key they are signed with, armored. @default yt-dlp's */
  readonly key?: string;
  /** The file of a release for this machine; absent when there is none. */
  readonly asset?: string | undefined;
}

const RELEASES = {
  stable: 'https://github.com/yt-dlp/yt-dlp/releases',
  nightly: 'https://github.com/yt-dlp/yt-dlp-nightly-builds/releases',
};

/** Milliseconds to be told of a release: an instance without a way to GitHub does not wait for it. */
const LOOK_TIMEOUT = 15_000;
const DOWNLOAD_TIMEOUT = 10 * 60_000;
const LIST_BYTES = 2 ** 18;
const ARCHIVE_BYTES = 2 ** 28;
const UNPACKED_BYTES = 2 ** 30;

/**
 * yt-dlp's own releases: the list of checksums must be signed by the pinned key, the archive must be the one it lists,
 * and what is in it must call itself by the tag it was fetched under, so that nobody serves an old release as a new one.
 *
 * The unpacked build rather than the single file: that one unpacks itself anew at every start.
 */
export function ytDlpRelease(options: ReleaseOptions): Source<YtDlp> {
  const { download, channel, url = RELEASES[channel], key = RELEASE_KEY, asset = assetFor() } = options;
  const small = (signal: AbortSignal) => ({ maxBytes: LIST_BYTES, timeout: LOOK_TIMEOUT, signal });

  const newest = async (signal: AbortSignal) => {
    const tag = (await follow(download, `${url}/latest`, { ...small(signal), maxBytes: ARCHIVE_BYTES }))
      .split('/')
      .at(-1);
    if (!tag || !isReleaseTag(tag)) throw new Error('it names no release');
    return tag;
  };

  return {
    name: 'release',
    label: 'the official release',
    newest,
    async fetch(folder, { onBytes, signal }) {
      if (!asset) throw new Error(`it has no build for ${process.platform} ${process.arch}`);
      const tag = await newest(signal);
      const at = (name: string) => `${url}/download/${tag}/${name}`;
      const list = await downloadBytes(download, at('SHA2-256SUMS'), small(signal));
      const signature = await downloadBytes(download, at('SHA2-256SUMS.sig'), small(signal));
      await checkSignature(list, signature, key).catch((cause) => {
        throw new Error('its checksums are not signed by the pinned key', { cause });
      });
      const expected = digestOf(list.toString(), asset);

      const archive = join(folder, 'archive.zip');
      const bounds = { maxBytes: ARCHIVE_BYTES, timeout: DOWNLOAD_TIMEOUT, signal, onBytes };
      if ((await downloadFile(download, at(asset), archive, bounds)) !== expected)
        throw new Error(`${asset} is not the file its checksum names`);
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
