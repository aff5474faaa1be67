import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  findLayeredYtDlp,
  locateLayeredYtDlp,
  readVersion,
} from '../../packages/yt-dlp-worker/src/yt-dlp/layered-yt-dlp.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let layer: string;
let staging: string;

/** Like the program of a release, it reads its version from `_internal` in its folder. */
const PROGRAM = '#!/bin/sh\nread -r version < "$(/usr/bin/dirname "$0")/_internal/version"\necho "$version"\n';

beforeEach(async () => {
  const dir = await temporaryFolder();
  [layer, staging] = [join(dir, 'opt'), join(dir, 'staged')];
  await mkdir(join(layer, '_internal'), { recursive: true });
});

async function unpackRelease(name: string, version = '2026.11.20') {
  await writeFile(join(layer, '_internal', 'version'), `${version}\n`);
  await writeFile(join(layer, name), PROGRAM, { mode: 0o644 });
}

describe('findLayeredYtDlp', () => {
  it('returns undefined for a layer without yt-dlp', async () => {
    expect(await findLayeredYtDlp(layer, staging)).toBeUndefined();
    expect(await findLayeredYtDlp(join(layer, 'missing'), staging)).toBeUndefined();
  });

  it.each(['yt-dlp_linux', 'yt-dlp_linux_aarch64'])('runs %s in place when it is executable', async (name) => {
    await unpackRelease(name);
    await chmod(join(layer, name), 0o755);
    const found = await findLayeredYtDlp(layer, staging);
    expect(found).toEqual({ version: '2026.11.20', command: [join(layer, name)], source: 'release' });
  });

  it.each(['yt-dlp_linux', 'yt-dlp_linux_aarch64'])('copies %s when it is not executable', async (name) => {
    await unpackRelease(name);
    const expected = { version: '2026.11.20', command: [join(staging, name)], source: 'release' };
    expect(await findLayeredYtDlp(layer, staging)).toEqual(expected);
    // Once more: an invocation may time out in between.
    expect(await findLayeredYtDlp(layer, staging)).toEqual(expected);
  });

  it('rejects a program whose version is no release tag', async () => {
    await unpackRelease('yt-dlp_linux', 'hello');
    await expect(findLayeredYtDlp(layer, staging)).rejects.toThrow('it reports version hello');
  });
});

describe('locateLayeredYtDlp', () => {
  it('does not run the program, whose version is read on demand', async () => {
    await unpackRelease('yt-dlp_linux', 'hello');
    const located = (await locateLayeredYtDlp(layer, staging)) ?? expect.fail('Not located');
    expect(located).toEqual({ version: 'of the layer', command: [join(staging, 'yt-dlp_linux')], source: 'release' });
    await expect(readVersion(located, staging)).rejects.toThrow('it reports version hello');
    await writeFile(join(layer, '_internal', 'version'), '2026.11.20\n');
    expect(await readVersion(located, staging)).toEqual({ ...located, version: '2026.11.20' });
  });

  it('returns undefined for a layer without yt-dlp', async () =>
    expect(await locateLayeredYtDlp(layer, staging)).toBeUndefined());
});
