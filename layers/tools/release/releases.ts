import { stat } from 'node:fs/promises';
import type { FetchOptions } from '../tool-provider.ts';
import { isReleaseTag } from '../versions.ts';
import { type Download, downloadBytes, downloadFile, resolveUrl } from './download.ts';
import { RELEASE_KEY } from './release-key.ts';
import { checkSignature, digestOf } from './signature.ts';

export interface ReleasesOptions {
  readonly download: Download;
  readonly channel: 'stable' | 'nightly';
  /** Where releases are. @default yt-dlp's on GitHub */
  readonly url?: string;
  /** The key they are signed with, armored. @default yt-dlp's */
  readonly key?: string;
}

/** yt-dlp's own releases, each known by its tag. */
export interface Releases {
  /** The tag of the newest one. @throws Error in one line */
  findNewest(signal: AbortSignal): Promise<string>;
  /**
   * Writes one file of a release as it is: the list of checksums must be signed by the pinned key, and the file must be
   * the one it lists. Nothing that is signed names the release: what is in the file has to say so itself.
   * @throws Error in one line
   */
  fetch(tag: string, asset: string, path: string, options: FetchOptions): Promise<FetchedRelease>;
}

export interface FetchedRelease {
  /** Hex. */
  readonly sha256: string;
  readonly bytes: number;
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

export function createReleases(options: ReleasesOptions): Releases {
  const { download, channel, url = RELEASES[channel], key = RELEASE_KEY } = options;
  const small = (signal: AbortSignal) => ({ maxBytes: LIST_BYTES, timeoutMs: LOOK_TIMEOUT, signal });

  return {
    async findNewest(signal) {
      const page = await resolveUrl(download, `${url}/latest`, { ...small(signal), maxBytes: ARCHIVE_BYTES });
      const tag = page.split('/').at(-1);
      if (!tag || !isReleaseTag(tag)) throw new Error('it names no release');
      return tag;
    },
    async fetch(tag, asset, path, { onBytes, signal }) {
      const at = (name: string) => `${url}/download/${tag}/${name}`;
      const list = await downloadBytes(download, at('SHA2-256SUMS'), small(signal));
      const signature = await downloadBytes(download, at('SHA2-256SUMS.sig'), small(signal));
      await checkSignature(list, signature, key).catch((cause) => {
        throw new Error('its checksums are not signed by the pinned key', { cause });
      });
      const expected = digestOf(list.toString(), asset);

      const bounds = { maxBytes: ARCHIVE_BYTES, timeoutMs: DOWNLOAD_TIMEOUT, signal, onBytes };
      const sha256 = await downloadFile(download, at(asset), path, bounds);
      if (sha256 !== expected) throw new Error(`${asset} is not the file its checksum names`);
      return { sha256, bytes: (await stat(path)).size };
    },
  };
}
