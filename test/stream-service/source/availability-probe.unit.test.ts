import { describe, expect, it } from 'vitest';
import { AvailabilityProbes, probeOffset } from '../../../stream-service/source/availability-probe.ts';

const MB = 1_000_000;
const MiB = 1024 * 1024;

describe('probeOffset', () => {
  it.each<[string, number | undefined, number | undefined, number | undefined, number | undefined]>([
    ['is at 75 s by the duration of the track', 300, 100, 60 * MB, 15 * MB],
    ['is at 75 s by the duration of the item', undefined, 300, 60 * MB, 15 * MB],
    ['is the middle without a duration', undefined, undefined, 60 * MB, 30 * MB],
    ['is 1 MiB in a file of a low bitrate', 300, undefined, 2 * MB, MiB],
    ['is the last byte of a file that ends before', 61, undefined, 60 * MB, 60 * MB - 1],
    ['is absent in less than a minute', 60, 300, 60 * MB, undefined],
    ['is absent in less than 1 MiB', 300, undefined, MiB, undefined],
    ['is absent without a size', 300, undefined, undefined, undefined],
  ])('%s', (_, trackSeconds, itemSeconds, size, expected) => {
    const item = { durationSeconds: itemSeconds, isLive: false };
    expect(probeOffset({ durationSeconds: trackSeconds }, item, size)).toBe(expected);
  });

  it('is absent in a live stream', () => {
    expect(probeOffset({}, { isLive: true }, 60 * MB)).toBeUndefined();
  });
});

describe('isProbed', () => {
  const probes = new AvailabilityProbes(['GoogleVideo.com', 'media.example'], Date.now);

  it.each([
    ['https://rr3---sn-4g5e6nzl.googlevideo.com/videoplayback?x=1', true],
    ['https://googlevideo.com./x', true],
    ['https://media.example:8443/x', true],
    ['https://notgooglevideo.com/x', false],
    ['https://googlevideo.com.example/x', false],
    ['not a URL', false],
  ])('%s: %s', (url, expected) => expect(probes.isProbed(url)).toBe(expected));

  it('is false of every URL without such a host', () => {
    expect(new AvailabilityProbes(['off'], Date.now).isProbed('https://a.googlevideo.com/')).toBe(false);
  });
});
