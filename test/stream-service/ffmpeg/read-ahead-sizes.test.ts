import { describe, expect, it } from 'vitest';
import { createReadAheadSizes } from '../../../stream-service/ffmpeg/ffmpeg-input-server.ts';

const KiB = 1024;
const MiB = 1024 * KiB;

/** The windows of reads that each go on where the one before ended. */
function windowsFrom(first: number, count: number, nextWindow = createReadAheadSizes()) {
  const windows: number[] = [];
  for (let at = first; windows.length < count; at += windows.at(-1) ?? 0) windows.push(nextWindow(at));
  return windows;
}

describe('createReadAheadSizes', () => {
  it('doubles what was read in one go, up to 16 MiB', () => {
    const windows = windowsFrom(0, 10).map((bytes) => bytes / KiB);
    expect(windows).toEqual([64, 64, 128, 256, 512, 1024, 2048, 4096, 8192, Number.POSITIVE_INFINITY]);
  });

  it('starts over elsewhere', () => {
    const nextWindow = createReadAheadSizes();
    windowsFrom(0, 5, nextWindow);
    expect([nextWindow(5 * MiB), nextWindow(100), nextWindow(100 + 64 * KiB)]).toEqual([64 * KiB, 64 * KiB, 64 * KiB]);
  });

  it('has what is expected of a position in two windows, and little behind it', () => {
    const windows = windowsFrom(MiB, 5, createReadAheadSizes(2 * MiB)).map((bytes) => bytes / KiB);
    expect(windows).toEqual([64, 2 * 1024 - 64, 64, 64, 128]);
  });

  it('expects nothing of the beginning, where headers are', () => {
    expect(windowsFrom(0, 3, createReadAheadSizes(2 * MiB)).map((bytes) => bytes / KiB)).toEqual([64, 64, 128]);
  });
});
