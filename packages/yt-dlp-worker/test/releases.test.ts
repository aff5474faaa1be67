import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readKey } from 'openpgp';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../test/support/temporary-folder.ts';
import { findLayeredYtDlp, locateLayeredYtDlp, readVersion } from '../src/yt-dlp/layered-yt-dlp.ts';
import { ytDlpRelease } from '../src/yt-dlp/providers.ts';
import { assetFor } from '../src/yt-dlp/release-archive.ts';
import { digestOf, RELEASE_KEY } from '../src/yt-dlp/releases.ts';

it('the pinned key is the one that yt-dlp publishes', async () => {
  const published = await readKey({ armoredKey: RELEASE_KEY });
  expect(published.getFingerprint()).toBe('ac0cbbe6848d6a873464af4e57cf65933b5a7581');
});

it('a platform without an asset is told without a request', async () => {
  const source = ytDlpRelease({ channel: 'stable', asset: '', download: () => Promise.reject(new Error('asked')) });
  const options = { signal: new AbortController().signal, onBytes: () => undefined };
  await expect(source.fetch('', options)).rejects.toThrow(/no build for/);
});

describe('digestOf', () => {
  const digest = 'AB'.repeat(32);
  it.each([`${digest}  a.zip`, `${digest} *a.zip`, `x\n${digest}  a.zip\r\n`])('reads %j', (list) =>
    expect(digestOf(list, 'a.zip')).toBe(digest.toLowerCase()),
  );
  it.each(['', `${digest}  aXzip`, `${digest}  a.zip.sig`, `${digest.slice(1)}  a.zip`, 'a.zip'])(
    'finds nothing in %j',
    (list) => expect(() => digestOf(list, 'a.zip')).toThrow(/does not contain a\.zip/),
  );
});

it.each<[NodeJS.Platform, string, boolean, string | undefined]>([
  ['linux', 'x64', false, 'yt-dlp_linux.zip'],
  ['linux', 'arm64', false, 'yt-dlp_linux_aarch64.zip'],
  ['linux', 'x64', true, 'yt-dlp_musllinux.zip'],
  ['linux', 'arm64', true, 'yt-dlp_musllinux_aarch64.zip'],
  ['darwin', 'arm64', false, 'yt-dlp_macos.zip'],
  ['linux', 's390x', false, undefined],
  ['freebsd', 'x64', false, undefined],
])('the asset for %s %s, musl %s, is %s', (platform, arch, isMusl, asset) =>
  expect(assetFor(platform, arch, isMusl)).toBe(asset),
);

describe.each(['yt-dlp_linux', 'yt-dlp_linux_aarch64'])('%s in a layer', (name) => {
  /** Like the program of a release, it reads its version from `_internal` in its folder. */
  const layerWith = async (version: string, mode: number) => {
    const dir = await temporaryFolder();
    const [layer, staging] = [join(dir, 'opt'), join(dir, 'staged')];
    await mkdir(join(layer, '_internal'), { recursive: true });
    await writeFile(join(layer, '_internal', 'version'), `${version}\n`);
    const program = '#!/bin/sh\nread -r version < "$(/usr/bin/dirname "$0")/_internal/version"\necho "$version"\n';
    await writeFile(join(layer, name), program);
    await chmod(join(layer, name), mode);
    return { layer, staging };
  };

  it.each([
    ['in place when it is executable', 0o755, 'layer'],
    ['as a copy when it is not', 0o644, 'staging'],
  ] as const)('runs %s', async (_, mode, place) => {
    const folders = await layerWith('2026.11.20', mode);
    const expected = { version: '2026.11.20', command: [join(folders[place], name)], source: 'release' };
    // Twice: an invocation may time out in between.
    for (const _again of [1, 2]) expect(await findLayeredYtDlp(folders.layer, folders.staging)).toEqual(expected);
  });

  it('is located without being run, and its version read on demand', async () => {
    const { layer, staging } = await layerWith('hello', 0o644);
    const located = (await locateLayeredYtDlp(layer, staging)) ?? expect.fail('Not located');
    expect(located).toEqual({ version: 'of the layer', command: [join(staging, name)], source: 'release' });
    await expect(readVersion(located, staging)).rejects.toThrow('it reports version hello');
    await writeFile(join(layer, '_internal', 'version'), '2026.11.20\n');
    expect(await readVersion(located, staging)).toEqual({ ...located, version: '2026.11.20' });
  });
});
