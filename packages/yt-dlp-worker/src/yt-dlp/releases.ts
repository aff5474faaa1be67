import { stat } from 'node:fs/promises';
import { type Download, downloadBytes, downloadFile, resolveUrl } from '../download.ts';
import { type FetchOptions, ToolRefused } from '../tools.ts';
import { isReleaseTag } from '../versions.ts';
import { RELEASE_KEY } from './release-key.ts';

export interface ReleasesOptions {
  readonly download: Download;
  readonly channel: 'stable' | 'nightly';
  /** Base URL of the releases. @default yt-dlp on GitHub */
  readonly url?: string;
  /** Armored public key of their signatures. @default the pinned key of yt-dlp */
  readonly key?: string;
}

/** The official releases of yt-dlp, by tag. */
export interface Releases {
  /** The tag of the newest one. @throws Error in one line */
  findNewest(signal: AbortSignal): Promise<string>;
  /**
   * Downloads one file of a release: the list of checksums must be signed by the pinned key, and the file must match its
   * checksum. The signature does not cover the tag: the caller checks the version that the program reports.
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

/** Short, so that an instance without access to GitHub soon tries the next provider. */
const METADATA_TIMEOUT_MS = 15_000;
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;
const MAX_LIST_BYTES = 2 ** 18;
const MAX_ARCHIVE_BYTES = 2 ** 28;

export function createReleases(options: ReleasesOptions): Releases {
  const { download, channel, url = RELEASES[channel], key = RELEASE_KEY } = options;
  const boundMetadata = (signal: AbortSignal) => ({ maxBytes: MAX_LIST_BYTES, timeoutMs: METADATA_TIMEOUT_MS, signal });

  return {
    async findNewest(signal) {
      const page = await resolveUrl(download, `${url}/latest`, {
        ...boundMetadata(signal),
        maxBytes: MAX_ARCHIVE_BYTES,
      });
      const tag = page.split('/').at(-1);
      if (!tag || !isReleaseTag(tag)) throw new Error('the latest release has no valid tag');
      return tag;
    },
    async fetch(tag, asset, path, { onBytes, signal }) {
      const at = (name: string) => `${url}/download/${tag}/${name}`;
      const list = await downloadBytes(download, at('SHA2-256SUMS'), boundMetadata(signal));
      const signature = await downloadBytes(download, at('SHA2-256SUMS.sig'), boundMetadata(signal));
      await checkSignature(list, signature, key).catch((cause) => {
        throw new ToolRefused('its checksums are not signed by the pinned key', { cause });
      });
      const expected = digestOf(list.toString(), asset);

      const bounds = { maxBytes: MAX_ARCHIVE_BYTES, timeoutMs: DOWNLOAD_TIMEOUT_MS, signal, onBytes };
      const sha256 = await downloadFile(download, at(asset), path, bounds);
      if (sha256 !== expected) throw new ToolRefused(`${asset} does not match its checksum`);
      return { sha256, bytes: (await stat(path)).size };
    },
  };
}

/**
 * Checks a detached OpenPGP signature.
 * @param armoredKey the only trusted key
 * @throws Error when this is not a signature of the content by that key
 */
async function checkSignature(content: Buffer, signature: Buffer, armoredKey: string): Promise<void> {
  // Imported on use: it takes several MB of memory, and is needed once in a few weeks.
  const { createMessage, readKey, readSignature, verify } = await import('openpgp');
  const { signatures } = await verify({
    message: await createMessage({ binary: content }),
    signature: await readSignature({ binarySignature: signature }),
    verificationKeys: await readKey({ armoredKey }),
    expectSigned: true,
  });
  await Promise.all(signatures.map(({ verified }) => verified));
}

/**
 * The digest of a file in a list in the format of `sha256sum`: hex, lower case.
 * @throws Error when the list does not contain the file
 */
export function digestOf(list: string, name: string): string {
  for (const line of list.split('\n')) {
    const [, digest, file] = /^([0-9a-f]{64}) [ *](.+?)\r?$/i.exec(line) ?? [];
    if (digest && file === name) return digest.toLowerCase();
  }
  throw new Error(`the list of checksums does not contain ${name}`);
}
