import { describe, expect, it } from 'vitest';
import { selectRenditions } from '../../../core/resolve/select-renditions.ts';
import { readTracks } from '../../../core/resolve/yt-dlp/tracks.ts';

type Format = Record<string, unknown>;
const NONE = 'none';

const format = (id: string, more: Format): Format => ({
  format_id: id,
  url: `https://cdn.example/${id}`,
  protocol: 'https',
  ext: 'mp4',
  format: `about ${id}`,
  ...more,
});
const both = (id: string, more: Format = {}) => format(id, { vcodec: 'avc1', acodec: 'mp4a.40.2', ...more });
const video = (id: string, more: Format = {}) => format(id, { vcodec: 'avc1', acodec: NONE, ...more });
const audio = (id: string, more: Format = {}) =>
  format(id, { vcodec: NONE, acodec: 'mp4a.40.2', ext: 'm4a', abr: 128, ...more });

const offered = (...formats: Format[]) => selectRenditions(readTracks({ formats }, 0));
const summary = (...formats: Format[]) =>
  offered(...formats).renditions.map(({ side, urlType, formatIds }) => `${side} ${urlType} ${formatIds.join('+')}`);

describe('what is offered', () => {
  it.each<[string, Format[], string[]]>([
    ['both tracks: Media', [both('a')], ['video Media a']],
    ['separate tracks: Combined, and the audio', [video('v'), audio('a')], ['video Combined v+a', 'audio Media a']],
    ['no audio at all: Media', [video('v')], ['video Media v']],
    ['sound alone', [audio('a')], ['audio Media a']],
    [
      'the best AAC, not the better Opus',
      [video('v'), audio('aac', { abr: 64 }), audio('opus', { acodec: 'opus', abr: 160 })],
      ['video Combined v+aac', 'audio Media opus', 'audio Media aac'],
    ],
    [
      'the best of several AAC',
      [video('v'), audio('low', { abr: 48 }), audio('high', { abr: 128 })],
      ['video Combined v+high', 'audio Media high', 'audio Media low'],
    ],
    [
      'Opus when there is no AAC',
      [video('v'), audio('o', { acodec: 'opus', ext: 'webm' })],
      ['video Combined v+o', 'audio Media o'],
    ],
    [
      'what MP4 can hold, not Vorbis',
      [video('v'), audio('vorbis', { acodec: 'vorbis', abr: 500 }), audio('flac', { acodec: 'flac', abr: 400 })],
      ['video Combined v+flac', 'audio Media vorbis', 'audio Media flac'],
    ],
    ['only Vorbis: nothing to mux', [video('v'), audio('a', { acodec: 'vorbis' })], ['video Media v', 'audio Media a']],
    ['VP8 does not fit into MP4', [video('v', { vcodec: 'vp8' }), audio('a')], ['video Media v', 'audio Media a']],
    [
      'an audio that comes the same way',
      [video('v', { protocol: 'm3u8' }), audio('hls', { protocol: 'm3u8', abr: 96 }), audio('file', { abr: 128 })],
      ['video Combined v+hls', 'audio Media file', 'audio Media hls'],
    ],
    ['nothing', [], []],
  ])('%s', (_, formats, expected) => expect(summary(...formats)).toEqual(expected));

  it('keeps each track once, and only those in use', () => {
    const { tracks } = offered(video('v'), video('w'), audio('a'));
    expect(tracks.map(({ formatId }) => formatId).toSorted()).toEqual(['a', 'v', 'w']);
  });
});

describe('the order', () => {
  const order = (...formats: Format[]) => offered(...formats).renditions.map(({ formatIds }) => formatIds[0]);

  it.each<[string, Format[], string[]]>([
    ['height', [both('b', { height: 720, tbr: 9000 }), both('a', { height: 1080 })], ['a', 'b']],
    [
      'then a codec that plays everywhere',
      [both('b', { vcodec: 'vp9', fps: 60 }), both('c', { vcodec: 'av01' }), both('a', { vcodec: 'avc1' })],
      ['a', 'c', 'b'],
    ],
    ['then fps', [both('b', { fps: 30, tbr: 9 }), both('a', { fps: 60, tbr: 1 })], ['a', 'b']],
    ['then bitrate', [both('b', { tbr: 1 }), both('a', { tbr: 9 })], ['a', 'b']],
    [
      'then as the source has it, the last being the best',
      [both('b', { fps: 30 }), both('a', { fps: 30 })],
      ['a', 'b'],
    ],
    [
      'audio by bitrate, Opus weighted',
      [audio('b', { abr: 150 }), audio('a', { acodec: 'opus', abr: 128 })],
      ['a', 'b'],
    ],
    [
      'the original language before a better dub',
      [audio('dub', { abr: 256, language_preference: -1 }), audio('original', { language_preference: 10 })],
      ['original', 'dub'],
    ],
  ])('%s', (_, formats, expected) => expect(order(...formats)).toEqual(expected));

  it('takes the language of the item for the original one', () => {
    const formats = [audio('fr', { language: 'fr', abr: 200 }), audio('en', { language: 'en', abr: 90 }), audio('any')];
    const { renditions } = selectRenditions(readTracks({ language: 'en', formats }, 0));
    expect(renditions.map(({ formatIds }) => formatIds[0])).toEqual(['any', 'en', 'fr']);
  });
});

describe('how a rendition reads', () => {
  const first = (...formats: Format[]) => offered(...formats).renditions[0];

  it.each([
    [both('a', { height: 1080 }), '1080p'],
    [both('a', { height: 2160 }), '2160p (4K)'],
    [both('a', { height: 4320 }), '4320p (8K)'],
    [both('a', { tbr: 129.4 }), '129 kbps'],
    [both('a'), 'MP4'],
    [audio('a', { abr: 128.7 }), '129 kbps'],
    [audio('a', { abr: null }), 'M4A'],
    [audio('a', { abr: null, ext: 'webm' }), 'WEBM'],
  ])('%o is called %s', (one, label) => expect(first(one)?.label).toBe(label));

  it.each([
    [both('a'), '.mp4', 'video/mp4'],
    [both('a', { ext: 'webm' }), '.webm', 'video/webm'],
    [audio('a'), '.m4a', 'audio/mp4'],
    [audio('a', { ext: 'mp4' }), '.m4a', 'audio/mp4'],
    [audio('a', { ext: 'webm' }), '.webm', 'audio/webm'],
    [audio('a', { ext: 'mp3' }), '.mp3', 'audio/mpeg'],
    [both('a', { protocol: 'm3u8', ext: 'ts' }), '.mp4', 'video/mp4'],
    [audio('a', { protocol: 'm3u8', ext: 'mp4' }), '.m4a', 'audio/mp4'],
    [both('a', { ext: 'xyz' }), '.xyz', 'application/octet-stream'],
  ])('%o is sent as %s, %s', (one, fileExtension, mimeType) =>
    expect(first(one)).toMatchObject({ fileExtension, mimeType }),
  );

  it('says of a pair what both sides say together', () =>
    expect(
      first(
        video('v', { ext: 'webm', filesize: 900, tbr: 1000, height: 360 }),
        audio('a', { filesize: 100, abr: 128 }),
      ),
    ).toMatchObject({
      urlType: 'Combined',
      description: 'about v + about a',
      fileExtension: '.mp4',
      mimeType: 'video/mp4',
      sizeBytes: 1000,
      bitrate: 1128,
      height: 360,
    }));

  it('says nothing of a size of which one side is missing', () =>
    expect(first(video('v', { filesize: 900 }), audio('a'))).not.toHaveProperty('sizeBytes'));
});

describe('the conversion to MP3', () => {
  it.each<[string, Format[], string | undefined]>([
    ['reads the best audio', [both('b'), audio('low', { abr: 48 }), audio('high')], 'high'],
    [
      'reads the best format when no audio stands alone',
      [both('worse', { height: 144 }), both('better', { height: 720 })],
      'better',
    ],
    ['is left out when the best audio is MP3 already', [audio('a', { acodec: 'mp3', ext: 'mp3' })], undefined],
    ['is left out when nothing can be heard', [video('v')], undefined],
    ['is there for MP3 inside a video', [both('b', { acodec: 'mp3' })], 'b'],
    ['never reads a pair', [video('v'), both('b')], 'b'],
  ])('%s', (_, formats, expected) => {
    const { renditions, conversionOf } = offered(...formats);
    expect(renditions.find(({ id }) => id === conversionOf)?.formatIds[0]).toBe(expected);
  });
});
