import { describe, expect, it } from 'vitest';
import { type AudioStart, parseFrameCrc } from '../../../../../stream-service/outputs/encode/frames/audio-start.ts';
import { runOffsetSeconds } from '../../../../../stream-service/outputs/encode/frames/seek-segmented.ts';

const at = (seconds: number) => ({ sampleRate: 48_000, firstSample: seconds * 48_000, originSample: 0 });

describe('runOffsetSeconds', () => {
  it.each<[string, AudioStart, AudioStart | undefined, number, number, boolean?]>([
    ['the timestamps of MPEG-TS', at(1.4), at(61.45), 60, 60.05],
    ['the timestamps where the playlist rounds', at(1.4), at(3590.4), 3610, 3589],
    ['timestamps that have wrapped around', at(95_440), at(56.282_311), 60, 60],
    ['the playlist where each segment counts from 0', at(0.025), at(0.025), 9.9, 9.9],
    ['the playlist where short segments count from 0', at(0), at(0), 2, 2],
    ['the playlist where timestamps were reset', at(10), at(700), 60, 60],
    ['the timestamps where a discontinuity is elsewhere', at(1.4), at(61.45), 60, 60.05, true],
    ['the playlist where timestamps were set back a little', at(1.4), at(146.4), 160, 160, true],
    ['the playlist where no audio is found', at(1.4), undefined, 60, 60],
    ['neither at the start', at(1.4), at(1.4), 0, 0],
  ])('uses %s', (_, source, run, startSeconds, offset, hasDiscontinuity = false) => {
    expect(runOffsetSeconds(source, run, startSeconds, hasDiscontinuity)).toBeCloseTo(offset, 4);
  });
});

describe('parseFrameCrc', () => {
  const text = (timeBase: string, pts: string, packetTimeBase = timeBase, packetPts = pts) =>
    `#software: Lavf\n#tb 0: ${timeBase}\n#media_type 0: audio\n#sample_rate 0: 44100\n#tb 1: ${packetTimeBase}\n` +
    `0,  ${pts},  ${pts}, 1024, 2048, 0x1\n1,  ${packetPts},  ${packetPts}, 1024, 215, 0x1\n`;

  it.each([
    ['1/44100', '61740', 61_740],
    ['1/44100', '-1024', -1024],
    ['1/1000', '1400', 61_740],
  ])('counts samples in a time base of %s', (timeBase, pts, firstSample) => {
    expect(parseFrameCrc(text(timeBase, pts))).toMatchObject({ sampleRate: 44_100, firstSample });
  });

  it.each([
    ['from 0 where sound begins later', text('1/44100', '22050'), 0],
    ['from the first sample of MPEG-TS', text('1/44100', '61740', '1/90000', '126000'), 61_740],
    ['from the first sample of what was cut out', text('1/44100', '882000'), 882_000],
    ['from the first sample behind priming', text('1/44100', '1105', '1/14112000', '0'), 1105],
  ])('counts time %s', (_, output, originSample) => {
    expect(parseFrameCrc(output)).toMatchObject({ originSample });
  });

  it.each(['', '#tb 0: 1/44100\n', '#sample_rate 0: 44100\n', 'nonsense'])('returns undefined for %j', (nothing) => {
    expect(parseFrameCrc(nothing)).toBeUndefined();
  });
});
