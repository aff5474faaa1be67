import { describe, expect, it } from 'vitest';
import { parseFrameCrc } from '../../../../../stream-service/outputs/encode/frames/audio-start.ts';

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
    ['from a first sample that is hardly late', text('1/44100', '44'), 44],
    ['of a list of MPEG-TS from 0', text('1/44100', '61740', '1/90000', '126000'), 0, true],
  ])('counts time %s', (_, output, originSample, isFromZero = false) => {
    expect(parseFrameCrc(output, isFromZero)).toMatchObject({ originSample });
  });

  it.each(['', '#tb 0: 1/44100\n', '#sample_rate 0: 44100\n', 'nonsense'])('returns undefined for %j', (nothing) => {
    expect(parseFrameCrc(nothing)).toBeUndefined();
  });
});
