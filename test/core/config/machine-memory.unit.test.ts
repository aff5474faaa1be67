import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { availableMemoryBytes, memoryShares } from '../../../core/config/index.ts';

const GIB = 2 ** 30;

describe('memoryShares', () => {
  it.each([
    [GIB / 4, 1, { forks: 2, ffmpegs: 1 }],
    [GIB, 2, { forks: 2, ffmpegs: 4 }],
    [2 * GIB, 2, { forks: 2, ffmpegs: 8 }],
    [4 * GIB, 2, { forks: 4, ffmpegs: 8 }],
    [4 * GIB, 3, { ffmpegBytes: GIB / 2 + 3 * 32 * 2 ** 20 }],
    [64 * GIB, 2, { forks: 5, ffmpegs: 8, forkBytes: GIB, readAheadBytes: 64 * 2 ** 20 }],
  ])('of %d bytes and %d cores', (bytes, cores, expected) => {
    const shares = memoryShares(bytes, cores);
    expect(shares).toMatchObject(expected);
    expect(shares.forks * shares.forkBytes).toBeLessThanOrEqual(Math.max(bytes / 2, GIB));
    expect(shares.readAheadBytes).toBeLessThanOrEqual(Math.max(bytes / 16, 16 * 2 ** 20));
  });

  it('is at most the memory of this machine', () => {
    expect(availableMemoryBytes()).toBeGreaterThan(GIB / 4);
    expect(availableMemoryBytes()).toBeLessThanOrEqual(totalmem());
  });
});

describe('availableMemoryBytes with a container limit', () => {
  it.each([
    ['1048576\n', 1_048_576],
    ['max\n', undefined],
    ['0\n', undefined],
    ['-1\n', undefined],
  ])('of %j is %j', (content, limit) => {
    const dir = mkdtempSync(join(tmpdir(), 'reelay-memory-'));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const [file, missing] = [join(dir, 'memory.max'), join(dir, 'missing')];
    writeFileSync(file, content);
    expect(availableMemoryBytes([missing, file])).toBe(limit ?? availableMemoryBytes([]));
  });
});
