import { describe, expect, it } from 'vitest';
import { contentType } from '../../../core/media/codecs/index.ts';

describe('contentType', () => {
  it.each([
    ['video/mp4', ['avc1.640028'], 'video/mp4; codecs="avc1.640028"'],
    ['video/mp4', ['avc1.640028', 'mp4a.40.2'], 'video/mp4; codecs="avc1.640028, mp4a.40.2"'],
    ['video/mp4', ['dvh1.05.06', 'ec-3'], 'video/mp4; codecs="dvh1.05.06, ec-3"'],
    ['audio/webm', ['opus'], 'audio/webm; codecs="opus"'],
    ['audio/ogg', ['Vorbis'], 'audio/ogg; codecs="vorbis"'],
  ])('names the codecs of %s %j as the source does', (mimeType, codecs, expected) => {
    expect(contentType(mimeType, codecs)).toBe(expected);
  });

  it.each([
    ['video/mp4', 'h264', 'avc1.640028'],
    ['video/mp4', 'avc1', 'avc1.640028'],
    ['video/mp4', 'h265', 'hvc1.1.6.L120.90'],
    ['video/webm', 'vp9', 'vp09.00.10.08'],
    ['video/webm', 'vp9.2', 'vp09.02.10.10'],
    ['video/webm', 'vp8', 'vp8'],
    ['video/mp4', 'av1', 'av01.0.08M.08'],
    ['audio/mp4', 'aac', 'mp4a.40.2'],
    ['audio/mp4', 'mp4a', 'mp4a.40.2'],
    ['audio/mp4', 'eac3', 'ec-3'],
    ['audio/mp4', 'ac3', 'ac-3'],
  ])('gives the short name of a family a typical profile: %s %s', (mimeType, codec, expected) => {
    expect(contentType(mimeType, [codec])).toBe(`${mimeType}; codecs="${expected}"`);
  });

  it.each([
    ['audio/mpeg', ['mp3'], 'tells the codec itself'],
    ['video/mp4', ['avc1.640028', undefined], 'has an unknown one'],
    ['video/mp4', ['x", "y'], 'has one that is no name'],
    ['video/mp4', [], 'has none'],
  ])('is %s alone of %j: it %s', (mimeType, codecs) => {
    expect(contentType(mimeType, codecs)).toBe(mimeType);
  });
});
