import { access, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readKey } from 'openpgp';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress } from '../../core/egress/create-egress.ts';
import type { FetchOptions } from '../../packages/yt-dlp-worker/src/tools.ts';
import { ytDlpRelease } from '../../packages/yt-dlp-worker/src/yt-dlp/providers.ts';
import { assetFor } from '../../packages/yt-dlp-worker/src/yt-dlp/release-archive.ts';
import { digestOf, RELEASE_KEY } from '../../packages/yt-dlp-worker/src/yt-dlp/releases.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startReleasePages } from './release-pages.ts';
import { type ZipEntry, zip } from './zip.ts';

/** Releases as GitHub serves them, signed by a test key. */
const TAG = '2026.11.20';
const ASSET = 'yt-dlp_linux.zip';
const root = await temporaryFolder();

const pages = await startReleasePages();
const egress = createEgress({ allow: [pages.host] });
afterAll(async () => {
  await egress.close();
  pages.close();
});

const program = (version: string): ZipEntry => ['yt-dlp_linux', `#!/bin/sh\necho ${version}\n`];
const publish = (archive: Buffer, signer?: 'own' | 'stranger') => pages.publish(TAG, ASSET, archive, signer);
const set = (name: string, file: Buffer | 'stall' | { readonly cut: Buffer }) =>
  pages.files.set(`${TAG}/${name}`, file);
const remove = (name: string) => pages.files.delete(`${TAG}/${name}`);
const release = (asset: string | undefined = ASSET) =>
  ytDlpRelease({
    channel: 'stable',
    url: pages.url,
    key: pages.key,
    asset,
    download: (url, options) => egress.request(url, options),
  });
const fetch = async (signal = new AbortController().signal, onBytes: FetchOptions['onBytes'] = () => undefined) => {
  const folder = await temporaryFolder();
  return { folder, locate: await release().fetch(folder, { signal, onBytes }) };
};

const genuine = await zip(root, [program(TAG), ['_internal/base.txt', 'base']]);
beforeEach(() => publish(genuine));

describe('ytDlpRelease', () => {
  it('downloads, verifies and unpacks the newest release', async () => {
    const told: (number | undefined)[][] = [];
    const { folder, locate } = await fetch(undefined, (...bytes) => told.push(bytes));
    expect(locate('/elsewhere')).toEqual({
      version: TAG,
      source: 'release',
      command: ['/elsewhere/yt-dlp_linux'],
    });
    expect(await readdir(folder, { recursive: true })).toEqual(
      expect.arrayContaining(['yt-dlp_linux', join('_internal', 'base.txt')]),
    );
    expect(told.at(-1)).toEqual([genuine.length, genuine.length]);
  });

  it('returns the newest version without a download', async () => {
    pages.files.clear();
    expect(await release().findNewest?.(new AbortController().signal)).toBe(TAG);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['a signature by another key', () => publish(genuine, 'stranger'), /not signed by the pinned key/],
    ['modified checksums', () => set('SHA2-256SUMS', Buffer.from('0'.repeat(64))), /not signed/],
    ['an invalid signature', () => set('SHA2-256SUMS.sig', Buffer.from('nothing')), /not signed/],
    ['an empty signature', () => set('SHA2-256SUMS.sig', Buffer.alloc(0)), /not signed/],
    ['no signature', () => remove('SHA2-256SUMS.sig'), /upstream returned 404/],
    ['a modified archive', async () => set(ASSET, await zip(root, [program('9')])), /does not match its checksum/],
    ['checksums above the size limit', () => set('SHA2-256SUMS', Buffer.alloc(2 ** 19)), /more than/],
    ['a truncated download', () => set(ASSET, { cut: genuine }), /closed the connection|Content-Length/],
    ['a missing asset', () => remove(ASSET), /upstream returned 404/],
    [
      'a redirect without a release tag',
      () => {
        pages.latest = '/tag/latest';
      },
      /has no valid tag/,
    ],
    [
      'a redirect to another path',
      () => {
        pages.latest = '/tag/..%2f';
      },
      /has no valid tag/,
    ],
    [
      'an older release under a new tag',
      async () => publish(await zip(root, [program('2026.01.01')])),
      /reports version 2026\.01\.01/,
    ],
    [
      'a program that does not run',
      async () => publish(await zip(root, [['yt-dlp_linux', '#!/bin/sh\nexit 1']])),
      /^Command failed/,
    ],
    ['an archive without the program', async () => publish(await zip(root, [['readme', '']])), /no such file/],
    [
      'a path outside of the folder',
      async () => publish(await zip(root, [['../escaped', '']])),
      /invalid relative path/,
    ],
    ['an absolute path', async () => publish(await zip(root, [['/tmp/escaped', '']])), /absolute path/],
    ['a link', async () => publish(await zip(root, [['yt-dlp_linux', '/bin/sh', 0o120777]])), /is a link/],
    ['an invalid archive', () => publish(Buffer.from('nothing')), /central directory/i],
  ])('rejects %s', async (_, spoil, reason) => {
    await spoil();
    await expect(fetch()).rejects.toThrow(reason);
    await expect(access(join(root, 'escaped'))).rejects.toThrow();
  });

  it('aborts the download', async () => {
    set(ASSET, 'stall');
    const controller = new AbortController();
    const before = pages.downloads(ASSET);
    const fetching = fetch(controller.signal);
    fetching.catch(() => undefined); // asserted below
    await expect.poll(() => pages.downloads(ASSET)).toBeGreaterThan(before);
    controller.abort();
    await expect(fetching).rejects.toThrow();
  });

  it('throws for a platform without an asset', async () => {
    const source = ytDlpRelease({ channel: 'stable', asset: '', download: () => Promise.reject(new Error('asked')) });
    const options = { signal: new AbortController().signal, onBytes: () => undefined };
    await expect(source.fetch(root, options)).rejects.toThrow(/no build for/);
  });
});

describe('the pinned key', () => {
  it('is the key that yt-dlp publishes', async () => {
    const published = await readKey({ armoredKey: RELEASE_KEY });
    expect(published.getFingerprint()).toBe('ac0cbbe6848d6a873464af4e57cf65933b5a7581');
  });
});

describe('digestOf', () => {
  const digest = 'AB'.repeat(32);
  it.each([`${digest}  a.zip`, `${digest} *a.zip`, `x\n${digest}  a.zip\r\n`])('reads %j', (list) =>
    expect(digestOf(list, 'a.zip')).toBe(digest.toLowerCase()),
  );
  it.each(['', `${digest}  aXzip`, `${digest}  a.zip.sig`, `${digest.slice(1)}  a.zip`, 'a.zip'])(
    'returns undefined for %j',
    (list) => expect(() => digestOf(list, 'a.zip')).toThrow(/does not contain a\.zip/),
  );
});

describe('assetFor', () => {
  it.each<[NodeJS.Platform, string, boolean, string | undefined]>([
    ['linux', 'x64', false, 'yt-dlp_linux.zip'],
    ['linux', 'arm64', false, 'yt-dlp_linux_aarch64.zip'],
    ['linux', 'x64', true, 'yt-dlp_musllinux.zip'],
    ['linux', 'arm64', true, 'yt-dlp_musllinux_aarch64.zip'],
    ['darwin', 'arm64', false, 'yt-dlp_macos.zip'],
    ['linux', 's390x', false, undefined],
    ['freebsd', 'x64', false, undefined],
  ])('returns for %s %s, musl %s: %s', (platform, arch, isMusl, asset) =>
    expect(assetFor(platform, arch, isMusl)).toBe(asset),
  );
});
