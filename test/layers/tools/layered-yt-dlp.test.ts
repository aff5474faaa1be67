import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { findLayeredYtDlp } from '../../../layers/tools/yt-dlp/layered-yt-dlp.ts';

let layer: string;
let staging: string;

/** A program that, like a release's, knows its version from what stands in `_internal` beside it. */
const PROGRAM = '#!/bin/sh\nread -r version < "$(/usr/bin/dirname "$0")/_internal/version"\necho "$version"\n';

beforeEach(async () => {
  const dir = await mkdtemp(join(tmpdir(), 'reelay-layer-'));
  onTestFinished(() => rm(dir, { recursive: true }));
  [layer, staging] = [join(dir, 'opt'), join(dir, 'staged')];
  await mkdir(join(layer, '_internal'), { recursive: true });
});

async function unpackRelease(name: string, version = '2026.11.20') {
  await writeFile(join(layer, '_internal', 'version'), `${version}\n`);
  await writeFile(join(layer, name), PROGRAM, { mode: 0o644 });
}

describe('findLayeredYtDlp', () => {
  it('finds none in a layer that has none', async () => {
    expect(await findLayeredYtDlp(layer, staging)).toBeUndefined();
    expect(await findLayeredYtDlp(join(layer, 'missing'), staging)).toBeUndefined();
  });

  it.each(['yt-dlp_linux', 'yt-dlp_linux_aarch64'])('runs %s where it is when it may be run', async (name) => {
    await unpackRelease(name);
    await chmod(join(layer, name), 0o755);
    const found = await findLayeredYtDlp(layer, staging);
    expect(found).toEqual({ version: '2026.11.20', command: [join(layer, name)], source: 'release' });
  });

  it.each(['yt-dlp_linux', 'yt-dlp_linux_aarch64'])('copies %s when it lost the right to run', async (name) => {
    await unpackRelease(name);
    const expected = { version: '2026.11.20', command: [join(staging, name)], source: 'release' };
    expect(await findLayeredYtDlp(layer, staging)).toEqual(expected);
    // Again, as a function does that was cut off in between.
    expect(await findLayeredYtDlp(layer, staging)).toEqual(expected);
  });

  it('refuses a program that does not call itself a release', async () => {
    await unpackRelease('yt-dlp_linux', 'hello');
    await expect(findLayeredYtDlp(layer, staging)).rejects.toThrow('it reports version hello');
  });
});
