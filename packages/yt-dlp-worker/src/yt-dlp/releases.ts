import { stat } from 'node:fs/promises';
import { type Download, downloadBytes, downloadFile, resolveUrl } from '../download.ts';
import { type FetchOptions, isReleaseTag, ToolRefused } from '../tools.ts';

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

/**
 * The public key that signs releases of yt-dlp, from its repository (`public.key`).
 * Fingerprint AC0C BBE6 848D 6A87 3464 AF4E 57CF 6593 3B5A 7581.
 */
export const RELEASE_KEY = `
-----BEGIN PGP PUBLIC KEY BLOCK-----

mQINBGP78C4BEAD0rF9zjGPAt0thlt5C1ebzccAVX7Nb1v+eqQjk+WEZdTETVCg3
WAM5ngArlHdm/fZqzUgO+pAYrB60GKeg7ffUDf+S0XFKEZdeRLYeAaqqKhSibVal
DjvOBOztu3W607HLETQAqA7wTPuIt2WqmpL60NIcyr27LxqmgdN3mNvZ2iLO+bP0
nKR/C+PgE9H4ytywDa12zMx6PmZCnVOOOu6XZEFmdUxxdQ9fFDqd9LcBKY2LDOcS
Yo1saY0YWiZWHtzVoZu1kOzjnS5Fjq/yBHJLImDH7pNxHm7s/PnaurpmQFtDFruk
t+2lhDnpKUmGr/I/3IHqH/X+9nPoS4uiqQ5HpblB8BK+4WfpaiEg75LnvuOPfZIP
KYyXa/0A7QojMwgOrD88ozT+VCkKkkJ+ijXZ7gHNjmcBaUdKK7fDIEOYI63Lyc6Q
WkGQTigFffSUXWHDCO9aXNhP3ejqFWgGMtCUsrbkcJkWuWY7q5ARy/05HbSM3K4D
U9eqtnxmiV1WQ8nXuI9JgJQRvh5PTkny5LtxqzcmqvWO9TjHBbrs14BPEO9fcXxK
L/CFBbzXDSvvAgArdqqlMoncQ/yicTlfL6qzJ8EKFiqW14QMTdAn6SuuZTodXCTi
InwoT7WjjuFPKKdvfH1GP4bnqdzTnzLxCSDIEtfyfPsIX+9GI7Jkk/zZjQARAQAB
tDdTaW1vbiBTYXdpY2tpICh5dC1kbHAgc2lnbmluZyBrZXkpIDxjb250YWN0QGdy
dWI0ay54eXo+iQJOBBMBCgA4FiEErAy75oSNaoc0ZK9OV89lkztadYEFAmP78C4C
GwMFCwkIBwIGFQoJCAsCBBYCAwECHgECF4AACgkQV89lkztadYEVqQ//cW7TxhXg
7Xbh2EZQzXml0egn6j8QaV9KzGragMiShrlvTO2zXfLXqyizrFP4AspgjSn/4NrI
8mluom+Yi+qr7DXT4BjQqIM9y3AjwZPdywe912Lxcw52NNoPZCm24I9T7ySc8lmR
FQvZC0w4H/VTNj/2lgJ1dwMflpwvNRiWa5YzcFGlCUeDIPskLx9++AJE+xwU3LYm
jQQsPBqpHHiTBEJzMLl+rfd9Fg4N+QNzpFkTDW3EPerLuvJniSBBwZthqxeAtw4M
UiAXh6JvCc2hJkKCoygRfM281MeolvmsGNyQm+axlB0vyldiPP6BnaRgZlx+l6MU
cPqgHblb7RW5j9lfr6OYL7SceBIHNv0CFrt1OnkGo/tVMwcs8LH3Ae4a7UJlIceL
V54aRxSsZU7w4iX+PB79BWkEsQzwKrUuJVOeL4UDwWajp75OFaUqbS/slDDVXvK5
OIeuth3mA/adjdvgjPxhRQjA3l69rRWIJDrqBSHldmRsnX6cvXTDy8wSXZgy51lP
m4IVLHnCy9m4SaGGoAsfTZS0cC9FgjUIyTyrq9M67wOMpUxnuB0aRZgJE1DsI23E
qdvcSNVlO+39xM/KPWUEh6b83wMn88QeW+DCVGWACQq5N3YdPnAJa50617fGbY6I
gXIoRHXkDqe23PZ/jURYCv0sjVtjPoVC+bg=
=bJkn
-----END PGP PUBLIC KEY BLOCK-----
`;
