import { spawnSync } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createEgress } from '../../../core/egress/create-egress.ts';
import { ffmpegFromPypi } from '../../../layers/tools/ffmpeg/ffmpeg-providers.ts';
import { installPinnedFfmpeg } from '../../../layers/tools/ffmpeg/pinned-ffmpeg.ts';
import { createTools } from '../../../layers/tools/install/create-tools.ts';
import { findPython } from '../../../layers/tools/process/python.ts';
import { smokeTestYtDlp } from '../../../layers/tools/runner/smoke-test.ts';
import type { Activity } from '../../../layers/tools/tools.ts';
import { openTestProxySession } from '../../support/proxy-session.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Installs from the first provider that this machine reaches, as a first start does. */
const dir = await temporaryFolder();
const egress = createEgress({ allow: [] });
afterAll(() => egress.close());

const open = (report: (activity: Activity) => void) =>
  createTools({
    ...{ dir, channel: 'stable', onActivity: report },
    download: (url, options) => egress.request(url, options),
    smokeTest: (candidate) => smokeTestYtDlp(candidate, { openProxy: openTestProxySession }),
    record: async () => undefined,
  });

describe('a fresh machine', () => {
  it('installs both tools, and finds them at the next start', { timeout: 300_000 }, async () => {
    const activities: string[] = [];
    const tools = open(({ name }) => activities.push(name));
    await tools.ensure();
    const [ytDlp, ffmpeg] = [tools.ytDlp(), tools.ffmpeg()];
    await tools.close();
    const [program = '', ...before] = ytDlp?.command ?? [];
    expect(
      spawnSync(program, [...before, '--version'], { env: {} })
        .stdout.toString()
        .trim(),
    ).toBe(ytDlp?.version);
    expect(spawnSync(ffmpeg?.path ?? '', ['-version'], { env: {} }).stdout.toString()).toContain(ffmpeg?.version);
    expect(activities).toContain('Downloading yt-dlp');

    activities.length = 0;
    const again = open(({ name }) => activities.push(name));
    await again.ensure();
    expect([again.ytDlp(), again.ffmpeg(), activities]).toEqual([ytDlp, ffmpeg, []]);
    await again.close();
  });

  it('installs FFmpeg from PyPI when the system has none', { timeout: 300_000 }, async () => {
    const folder = join(dir, 'ffmpeg-from-pypi');
    await mkdir(folder);
    const options = { signal: new AbortController().signal, onBytes: () => undefined };
    const { path, buildId } = (await ffmpegFromPypi().fetch(folder, options))(folder);
    expect(spawnSync(path, ['-version'], { env: {} }).status).toBe(0);
    expect(buildId).toMatch(/^[0-9a-f]{32}$/);
  });
});

describe('FFmpeg of images', () => {
  /** ELF header: the processor at offset 18. */
  it.each([
    ['x86_64', 0x3e],
    ['arm64', 0xb7],
  ] as const)('is installed for %s on any machine', { timeout: 300_000 }, async (architecture, machine) => {
    const folder = join(dir, `image-${architecture}`);
    await mkdir(folder);
    const program = await readFile(join(folder, await installPinnedFfmpeg(folder, architecture)));
    expect([program.toString('latin1', 1, 4), program.readUInt16LE(18)]).toEqual(['ELF', machine]);
  });

  it('is refused with another hash than the pinned one', { timeout: 300_000 }, async () => {
    const folder = join(dir, 'other-hash');
    await mkdir(folder);
    const options = { sha256: '0'.repeat(64), platform: 'manylinux2014_aarch64' };
    const installing = (await findPython()).install('imageio-ffmpeg==0.6.0', folder, options);
    await expect(installing).rejects.toThrow(/hash/i);
  });
});
