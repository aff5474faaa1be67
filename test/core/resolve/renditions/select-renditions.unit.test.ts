import { describe, expect, it } from 'vitest';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import { type Format, formatOf, tracksOf } from '../yt-dlp/tracks-of.ts';

const NONE = 'none';

const format = (id: string, more: Format): Format => formatOf(id, { format: `about ${id}`, ...more });
const both = (id: string, more: Format = {}) => format(id, { vcodec: 'avc1', acodec: 'mp4a.40.2', ...more });
const video = (id: string, more: Format = {}) => format(id, { vcodec: 'avc1', acodec: NONE, ...more });
const audio = (id: string, more: Format = {}) =>
  format(id, { vcodec: NONE, acodec: 'mp4a.40.2', ext: 'm4a', abr: 128, ...more });

const offered = (...formats: Format[]) => selectRenditions(tracksOf({ formats }, 0));
const summary = (...formats: Format[]) =>
  offered(...formats).renditions.map(({ side, urlType, formatIds }) => `${side} ${urlType} ${formatIds.join('+')}`);

describe('selectRenditions', () => {
  it.each<[string, Format[], string[]]>([
    ['Media for a format with video and audio', [both('a')], ['video Media a']],
    ['Combined for separate tracks, and the audio', [video('v'), audio('a')], ['video Combined v+a', 'audio Media a']],
    ['Media for video without audio', [video('v')], ['video Media v']],
    ['Media for audio alone', [audio('a')], ['audio Media a']],
    [
      'Combined with the best AAC rather than a better Opus',
      [video('v'), audio('aac', { abr: 64 }), audio('opus', { acodec: 'opus', abr: 160 })],
      ['video Combined v+aac', 'audio Media opus', 'audio Media aac'],
    ],
    [
      'Combined with the best of several AAC tracks',
      [video('v'), audio('low', { abr: 48 }), audio('high', { abr: 128 })],
      ['video Combined v+high', 'audio Media high', 'audio Media low'],
    ],
    [
      'Combined with Opus when there is no AAC',
      [video('v'), audio('o', { acodec: 'opus', ext: 'webm' })],
      ['video Combined v+o', 'audio Media o'],
    ],
    [
      'Combined with audio that MP4 can hold, not Vorbis',
      [video('v'), audio('vorbis', { acodec: 'vorbis', abr: 500 }), audio('flac', { acodec: 'flac', abr: 400 })],
      ['video Combined v+flac', 'audio Media flac', 'audio Media vorbis'],
    ],
    [
      'Media when there is only Vorbis',
      [video('v'), audio('a', { acodec: 'vorbis' })],
      ['video Media v', 'audio Media a'],
    ],
    [
      'Media for VP8, which MP4 cannot hold',
      [video('v', { vcodec: 'vp8' }), audio('a')],
      ['video Media v', 'audio Media a'],
    ],
    [
      'Combined with audio of the same delivery',
      [video('v', { protocol: 'm3u8' }), audio('hls', { protocol: 'm3u8', abr: 96 }), audio('file', { abr: 128 })],
      ['video Combined v+hls', 'audio Media file', 'audio Media hls'],
    ],
    ['nothing', [], []],
  ])('offers %s', (_, formats, expected) => expect(summary(...formats)).toEqual(expected));

  it('returns each used track once', () => {
    const { tracks } = offered(video('v'), video('w'), audio('a'));
    expect(tracks.map(({ formatId }) => formatId).toSorted()).toEqual(['a', 'v', 'w']);
  });
});

describe('the order of renditions', () => {
  it('takes the language of the item as the original one', () => {
    const formats = [audio('fr', { language: 'fr', abr: 200 }), audio('en', { language: 'en', abr: 90 }), audio('any')];
    const { renditions } = selectRenditions(tracksOf({ language: 'en', formats }, 0));
    expect(renditions.map(({ formatIds }) => formatIds[0])).toEqual(['any', 'en', 'fr']);
  });
});

describe('a rendition', () => {
  const first = (...formats: Format[]) => offered(...formats).renditions[0];

  it.each([
    [both('a', { height: 1080 }), '1080p'],
    [both('a', { height: 2160 }), '2160p (4K)'],
    [both('a', { height: 4320 }), '4320p (8K)'],
    [both('a', { height: 1920, width: 1080 }), '1080p'],
    [both('a', { height: 1080, width: 1920, fps: 30.4 }), '1080p'],
    [both('a', { height: 1080, width: 1920, fps: 30.5 }), '1080p31'],
    [both('a', { height: 1080, fps: 59.94 }), '1080p60'],
    [both('a', { height: 1080, dynamic_range: 'HDR10' }), '1080p HDR'],
    [both('a', { height: 1080, format_note: '1080p60 HDR', dynamic_range: 'SDR' }), '1080p HDR'],
    [both('a', { height: 1080, vcodec: 'vp9.2' }), '1080p HDR'],
    [both('a', { height: 2160, fps: 50, dynamic_range: 'DV' }), '2160p50 HDR (4K)'],
    [both('a', { tbr: 129.4 }), '129 kbps'],
    [both('a'), 'MP4'],
    [audio('a', { abr: 128.7 }), '129 kbps'],
    [audio('a', { abr: null }), 'M4A'],
    [audio('a', { abr: null, ext: 'webm' }), 'WEBM'],
  ])('of %o has the label %s', (one, label) => expect(first(one)?.label).toBe(label));

  it.each([
    [both('a'), '.mp4', 'video/mp4'],
    [both('a', { ext: 'webm' }), '.webm', 'video/webm'],
    [both('a', { ext: 'mpeg' }), '.mpeg', 'video/mpeg'],
    [both('a', { ext: 'mpg' }), '.mpg', 'video/mpeg'],
    [audio('a'), '.m4a', 'audio/mp4'],
    [audio('a', { ext: 'mp4' }), '.m4a', 'audio/mp4'],
    [audio('a', { ext: 'webm' }), '.webm', 'audio/webm'],
    [audio('a', { ext: 'mp3' }), '.mp3', 'audio/mpeg'],
    [both('a', { protocol: 'm3u8', ext: 'ts' }), '.mp4', 'video/mp4'],
    [audio('a', { protocol: 'm3u8', ext: 'mp4' }), '.m4a', 'audio/mp4'],
    [both('a', { ext: 'xyz' }), '.bin', 'application/octet-stream'],
  ])('of %o has the extension %s and the type %s', (one, fileExtension, mimeType) =>
    expect(first(one)).toMatchObject({ fileExtension, mimeType }),
  );

  const unknown = { sizeBytes: undefined, bitrate: undefined, height: undefined };
  it.each<[string, Format[], object]>([
    [
      'two tracks combines their figures',
      [video('v', { ext: 'webm', filesize: 900, tbr: 1000, height: 360 }), audio('a', { filesize: 100, abr: 128 })],
      {
        urlType: 'Combined',
        description: 'about v + about a',
        fileExtension: '.mp4',
        mimeType: 'video/mp4',
        sizeBytes: 1000,
        bitrate: 1128,
        height: 360,
      },
    ],
    [
      'HLS has the bitrate of the video, whose bandwidth includes the audio',
      [video('v', { tbr: 1000, protocol: 'm3u8' }), audio('a')],
      { urlType: 'Combined', bitrate: 1000 },
    ],
    [
      'a video file and audio of unknown bitrate has that of the video',
      [video('v', { tbr: 1000 }), audio('a', { abr: null })],
      { urlType: 'Combined', bitrate: 1000 },
    ],
    ['two tracks has no bitrate without that of the video', [video('v'), audio('a')], unknown],
    ['two tracks has no size without that of the video', [video('v'), audio('a', { filesize: 100 })], unknown],
    ['two tracks has no size without that of the audio', [video('v', { filesize: 900 }), audio('a')], unknown],
    [
      'one track has its figures',
      [both('a', { filesize: 900, tbr: 1000, height: 360 })],
      { sizeBytes: 900, bitrate: 1000, height: 360 },
    ],
    ['audio has its figures', [audio('a', { filesize: 100, abr: 96 })], { sizeBytes: 100, bitrate: 96 }],
    ['one track has no unknown ones', [both('a')], unknown],
  ])('of %s', (_, formats, expected) => {
    const found = first(...formats) ?? expect.fail('No rendition');
    expect({ ...unknown, ...found }).toMatchObject(expected);
    expect(Object.values(found)).not.toContain(undefined);
  });

  it('that is left out leaves no track behind', () => {
    const { tracks } = offered(both('b', { height: 360 }), video('v', { height: 1080 }));
    expect(tracks.map(({ formatId }) => formatId)).toEqual(['b']);
  });

  it('names its formats where nothing else tells it apart', () => {
    const same = { height: 360, format: 'same' };
    const pair = [video('c', same), video('d', same), audio('s', { format: null })];
    const describeAll = (...formats: Format[]) => offered(...formats).renditions.map(({ description }) => description);
    expect(describeAll(both('a', same), both('b', same), both('c', { ...same, ext: 'webm' }))).toEqual([
      'same',
      'same (a)',
      'same',
    ]);
    expect(describeAll(both('a', { format: null }), both('b', { format: null }))).toEqual([null, '(a)']);
    expect(describeAll(...pair)).toEqual(['same', 'same (c + s)', null]);
  });

  it('without sound is offered only when no video of the item can have any', () => {
    expect(summary(both('b', { height: 360 }), video('v', { height: 1080 }))).toEqual(['video Media b']);
    expect(summary(video('v', { vcodec: 'vp8' }), video('w'), audio('a'))).toEqual([
      'video Combined w+a',
      'audio Media a',
    ]);
  });

  it.each([
    [{}, {}, ['video Combined v+a', 'audio Media a']],
    [{ acodec: 'mp4a.40.2' }, {}, ['video Media v', 'audio Media a']],
    [{}, { manifest_url: 'https://cdn.example/other.m3u8' }, ['video Media v', 'audio Media a']],
    [{ protocol: 'https' }, {}, ['video Media v', 'audio Media a']],
    [{ manifest_url: null }, { manifest_url: null }, ['video Media v', 'audio Media a']],
    // Vorbis and VP8 do not fit into MP4: a pair is impossible.
    [{}, { acodec: 'vorbis' }, ['video Media v', 'audio Media a']],
    [{ vcodec: 'vp8' }, {}, ['video Media v', 'audio Media a']],
  ])(
    'of an HLS variant without a known audio codec is paired with audio of its manifest: %j, %j',
    (more, sound, expected) => {
      const common = { protocol: 'm3u8_native', manifest_url: 'https://cdn.example/master.m3u8' };
      const variant = format('v', { ...common, height: 720, ...more });
      expect(summary(variant, audio('a', { ...common, acodec: null, ...sound }))).toEqual(expected);
    },
  );
});

describe('the conversion to MP3', () => {
  it.each<[string, Format[], string | undefined]>([
    ['reads the best audio', [both('b'), audio('low', { abr: 48 }), audio('high')], 'high'],
    [
      'reads the best format when there is no separate audio',
      [both('worse', { height: 144 }), both('better', { height: 720 })],
      'better',
    ],
    ['is not offered when the best audio is an MP3 file', [audio('a', { acodec: 'mp3', ext: 'mp3' })], undefined],
    ['is not offered for an MP3 file of an unknown codec', [audio('a', { acodec: undefined, ext: 'mp3' })], undefined],
    ['is offered for a list of MP3', [audio('a', { acodec: 'mp3', ext: 'mp3', protocol: 'm3u8_native' })], 'a'],
    ['is offered for MP3 in M4A', [audio('a', { acodec: 'mp4a.6b' })], 'a'],
    ['is offered for MP3 in Matroska', [audio('a', { acodec: 'mp3', ext: 'mka' })], 'a'],
    ...[both('b'), video('v')].map((other): [string, Format[], undefined] => [
      `is not offered when the best audio is MP3 already, whatever the video (${other.format_id})`,
      [audio('a', { acodec: 'mp3', ext: 'mp3' }), other],
      undefined,
    ]),
    ['is not offered without audio', [video('v')], undefined],
    ['is offered for MP3 inside a video', [both('b', { acodec: 'mp3' })], 'b'],
    ['never reads a Combined rendition', [video('v'), both('b')], 'b'],
  ])('%s', (_, formats, expected) => {
    const { renditions, conversionOf, conversions } = offered(...formats);
    expect(renditions.find(({ id }) => id === conversionOf)?.formatIds[0]).toBe(expected);
    expect(conversions).toEqual(expected === undefined ? {} : { mp3: { renditionId: conversionOf } });
  });
});
