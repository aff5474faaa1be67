import { describe, expect, it } from 'vitest';
import { keyOf, renditionId } from '../../../core/state/keys.ts';
import type { Rendition, Resource, Subtitle, Track } from '../../../core/state/resource.ts';
import { toPlayback } from '../../../lambdas/api/get-playback.ts';
import { aResource, aTrack } from '../../core/state/resources.ts';

const video = (formatId: string, height: number, more: Partial<Track> = {}) =>
  aTrack({ formatId, video: { codec: 'avc1.640028', height, width: height * 2, fps: 30 }, sizeBytes: 900, ...more });
const webm = (formatId: string, height: number) =>
  video(formatId, height, { container: 'webm', video: { codec: 'vp9', height } });
const aac = aTrack({ formatId: 'aac', container: 'm4a', video: null, audio: { codec: 'mp4a.40.2' }, sizeBytes: 100 });
const opus = aTrack({ formatId: 'opus', container: 'webm', video: null, audio: { codec: 'opus' } });

const rendition = (
  side: 'video' | 'audio',
  formatIds: Rendition['formatIds'],
  more: Partial<Rendition> = {},
): Rendition => {
  const kind = { side, urlType: formatIds.length === 2 ? ('Combined' as const) : ('Media' as const), formatIds };
  const file = { label: `${formatIds}`, description: null, fileExtension: '.mp4', mimeType: `${side}/mp4` };
  return { ...kind, ...file, id: renditionId(kind), ...more };
};
const pair = (formatId: string, height: number, audio = 'aac') => rendition('video', [formatId, audio], { height });

const playbackOf = (changes: Partial<Resource>, sign?: (key: string) => string) =>
  toPlayback(aResource(0, changes), 'https://media.example/ asked', sign);
const paths = (tracks: readonly { readonly label: string }[]) => tracks.map(({ label }) => label);

describe('toPlayback', () => {
  it('lists the tracks of pairs one by one, and pairs of MP4 as one file', () => {
    const both = rendition('video', ['18'], { height: 360 });
    const resource = aResource(0, {
      tracks: [video('hd', 1080), webm('vp9', 1080), aTrack({ audio: { codec: 'mp4a.40.2' } }), aac, opus],
      renditions: [
        ...[pair('hd', 1080), pair('vp9', 1080), both],
        ...[rendition('audio', ['aac']), rendition('audio', ['opus'], { mimeType: 'audio/webm', bitrate: 96.5 })],
      ],
    });
    const playback = toPlayback(resource, 'https://media.example/ asked');
    expect(playback.video.map(({ contentType, height }) => [contentType, height])).toEqual([
      ['video/mp4; codecs="avc1.640028"', 1080],
      ['video/webm; codecs="vp09.00.10.08"', 1080],
    ]);
    expect(playback.audio.map(({ contentType, bitrate }) => [contentType, bitrate])).toEqual([
      ['audio/mp4; codecs="mp4a.40.2"', null],
      ['audio/webm; codecs="opus"', 96.5],
    ]);
    expect(playback.muxed.map(({ contentType }) => contentType)).toEqual([
      'video/mp4; codecs="avc1.640028, mp4a.40.2"',
      'video/mp4; codecs="avc1.64001f, mp4a.40.2"',
    ]);
    const key = keyOf(resource.id, renditionId({ side: 'video', urlType: 'Media', formatIds: ['hd'] }));
    const size = { width: 2160, height: 1080, fps: 30, bitrate: null, fileSizeBytes: 900 };
    expect(playback.video[0]).toMatchObject({ key, path: `/api/Stream/Media/${key}`, codec: 'avc1.640028', ...size });
  });

  it('has one video of each height and container: the first, and MP4 before others of its height', () => {
    const heights = { a: 720, b: 720, c: 720, d: 360, damaged: 1080 } as const;
    const tracks = [webm('a', 720), video('b', 720), video('c', 720), video('d', 360), webm('damaged', 1080), aac];
    const renditions = Object.entries(heights).map(([formatId, height]) => pair(formatId, height));
    expect(paths(playbackOf({ tracks, renditions }).video)).toEqual(['b,aac', 'a,aac', 'd,aac', 'damaged,aac']);
  });

  it('has no MP4 with a flaw before a sound video of its height', () => {
    const tracks = [webm('sound', 720), video('damaged', 720), aac];
    const renditions = [pair('sound', 720), { ...pair('damaged', 720), flaws: ['damaged'] as const }];
    expect(paths(playbackOf({ tracks, renditions }).video)).toEqual(['sound,aac', 'damaged,aac']);
  });

  it('leaves out HLS, DASH and pairs without ranges', () => {
    const hls = video('hls', 720, { delivery: 'hls' });
    const tracks = [hls, webm('vp9', 360), { ...aac, delivery: 'dash' as const }, opus];
    const renditions = [pair('hls', 720), pair('vp9', 360, 'opus'), rendition('audio', ['aac'])];
    const { video: alone, audio, muxed } = playbackOf({ tracks, renditions });
    expect([paths(alone), audio, muxed]).toEqual([['vp9,opus'], [], []]);
    // Once a stream has told how long its file is, a list is one that can be sought in.
    const exactSizes = { [rendition('audio', ['aac']).id]: 4321 };
    expect(playbackOf({ tracks, renditions, exactSizes }).audio[0]?.fileSizeBytes).toBe(4321);
  });

  it('has nothing to seek in of a live stream', () => {
    const playback = playbackOf({ isLive: true, tracks: [aac], renditions: [rendition('audio', ['aac'])] });
    expect(playback.audio).toEqual([]);
  });

  it('writes unknown texts as empty, and other unknown values as null', () => {
    expect(playbackOf({ title: null, durationSeconds: undefined })).toMatchObject({
      requestedUrl: 'https://media.example/ asked',
      title: '',
      author: '',
      coverUrl: null,
      durationSeconds: null,
    });
  });

  it('has one subtitle of each language, by people before automatic, with signed keys', () => {
    const subtitle = (id: string, language: string, isAutomatic: boolean, name?: string): Subtitle => ({
      id,
      formatId: id,
      language,
      isAutomatic,
      ...(name && { name }),
    });
    const subtitles = [subtitle('1', 'en', true), subtitle('2', 'en', false, 'English'), subtitle('3', 'de', true)];
    const { subtitles: listed } = playbackOf({ subtitles }, (key) => `${key}.signed`);
    expect(listed.map(({ language, name, automatic }) => [language, name, automatic])).toEqual([
      ['en', 'English', false],
      ['de', 'de', true],
    ]);
    for (const { key, path } of listed) expect(path).toBe(`/api/Stream/Subtitle/${key}`);
    expect(listed[0]?.key).toMatch(/2\.signed$/);
  });
});
