import { describe, expect, it } from 'vitest';
import { contentType, fileType, isMp4Container, mp4HoldsAudio, mp4HoldsVideo, videoRank } from '../src/codecs.ts';

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
    ['video/webm', 'vp9.1', 'vp09.01.10.08'],
    ['video/webm', 'vp9.2', 'vp09.02.10.10'],
    ['audio/mp4', 'xeac3', 'xeac3'],
    ['audio/mp4', 'eac3x', 'ac-3'],
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

describe('codecs and containers', () => {
  it('rank video by the support of players, an unnamed codec after H.264', () => {
    const codecs = ['theora', 'xvid', 'vp9', 'hvc1', 'av01', undefined, 'avc1'];
    expect(codecs.toSorted((a, b) => videoRank(a) - videoRank(b))).toEqual([
      ...['avc1', 'av01', 'hvc1', 'vp9', 'xvid', 'theora', undefined],
    ]);
    expect([videoRank('avc1'), videoRank(undefined), videoRank('av01')]).toEqual([0, 1, 2]);
  });

  it.each([
    ['h264', true, false],
    ['mp4a.40.2', false, true],
    ['vorbis', false, false],
    [undefined, true, true],
  ])('%s fits into MP4 as video %j, as audio %j', (codec, video, audio) =>
    expect([mp4HoldsVideo(codec), mp4HoldsAudio(codec)]).toEqual([video, audio]),
  );

  it.each([
    ['mp4', true, '.mp4', 'video/mp4'],
    ['mp4', false, '.m4a', 'audio/mp4'],
    ['ogv', false, '.ogg', 'audio/ogg'],
    ['webm', false, '.webm', 'audio/webm'],
    ['mp3', true, '.mp3', 'audio/mpeg'],
    ['aac', false, '.aac', 'audio/aac'],
    ['exe', true, '.bin', 'application/octet-stream'],
    ['constructor', false, '.bin', 'application/octet-stream'],
  ])('a file of %s with video %j is %s, %s', (container, hasVideo, fileExtension, mimeType) =>
    expect(fileType(container, hasVideo)).toEqual({ fileExtension, mimeType }),
  );

  it('know MP4 and QuickTime by any of their extensions', () =>
    expect(['mp4', 'M4A', 'm4v', 'xmp4', 'mp4x', 'MOV'].filter(isMp4Container)).toEqual(['mp4', 'M4A', 'm4v', 'MOV']));
});
