import { describe, expect, it } from 'vitest';
import { probeOffset } from '../src/availability-probe.ts';

const MB = 1_000_000;
const MiB = 1024 * 1024;

describe('probeOffset', () => {
  it.each<[string, number | undefined, number | undefined, number | undefined]>([
    ['is at 75 s by the duration', 300, 60 * MB, 15 * MB],
    ['is the middle without a duration', undefined, 60 * MB, 30 * MB],
    ['is 1 MiB in a file of a low bitrate', 300, 2 * MB, MiB],
    ['is the last byte of a file that ends before', 61, 60 * MB, 60 * MB - 1],
    ['is absent in less than a minute', 60, 60 * MB, undefined],
    ['is absent in less than 1 MiB', 300, MiB, undefined],
    ['is absent without a size', 300, undefined, undefined],
  ])('%s', (_, durationSeconds, size, expected) => {
    expect(probeOffset({ durationSeconds }, size)).toBe(expected);
  });

  it('is absent in a live stream', () => {
    expect(probeOffset({ isLive: true }, 60 * MB)).toBeUndefined();
  });
});
