import { spawnSync } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { placeFfmpeg } from '../../infra/build/image-context.ts';
import { ffmpegFromPypi } from '../../packages/yt-dlp-worker/src/ffmpeg/ffmpeg-providers.ts';
import { findPython } from '../../packages/yt-dlp-worker/src/process/python.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const dir = await temporaryFolder();

// The install of both tools by the service is tested in test/local/main.test.ts.
describe('a fresh machine', () => {
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
    // Shared with the tests that build images.
    await placeFfmpeg({ dir, architecture });
    const program = await readFile(join(dir, 'ffmpeg'));
    expect([program.toString('latin1', 1, 4), program.readUInt16LE(18)]).toEqual(['ELF', machine]);
  });
});

describe('Python.install', () => {
  it('refuses a package with another hash than the pinned one', { timeout: 300_000 }, async () => {
    const folder = join(dir, 'other-hash');
    await mkdir(folder);
    const options = { sha256: '0'.repeat(64), platform: 'manylinux2014_aarch64' };
    const installing = (await findPython()).install('certifi==2026.10.18', folder, options);
    await expect(installing).rejects.toThrow(/hash/i);
  });
});
