import { describe, expect, it } from 'vitest';
import type { MediaRendition } from '../../../web/src/api/index.ts';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import { secondsOf } from '../../../web/src/renditions/conversions.ts';
import { rowsOf } from '../../../web/src/renditions/format-preference.ts';
import {
  mediaOf as item,
  itemOf,
  mp3Of,
  pathOf,
  referenceOf,
  renditionOf as rendition,
  soundOf as sound,
} from '../fakes/resources.ts';

const MP3 = mp3Of();

describe('choicesOf', () => {
  it('groups video and audio, MP3 and then the best first, and preselects one', () => {
    const choices = choicesOf(item([rendition({ key: 'A' }), rendition({ key: 'B' })], [sound({ key: 'C' }), MP3]));
    expect(choices.video.map(({ id }) => id)).toEqual(['video:A', 'video:B']);
    const mp3 = ['audio:K:mp3:320', 'audio:K:mp3:256', 'audio:K:mp3', 'audio:K:mp3:128'];
    expect(choices.audio.map(({ id }) => id)).toEqual([...mp3, 'audio:C']);
    expect(choices.preselected?.id).toBe('video:A');
  });

  it.each([
    ['audio without video', item([], [sound({ key: 'C' }), MP3]), 'audio:C'],
    ['the conversion alone', item([], [MP3]), 'audio:K:mp3'],
    ['nothing', item([]), undefined],
    ['references without renditions', itemOf({ video: referenceOf(), audio: referenceOf() }), undefined],
    ['renditions without keys', item([rendition({ key: '' })], [sound({ key: '' })]), undefined],
  ])('of %s', (_, media, id) => expect(choicesOf(media).preselected?.id).toBe(id));

  it('removes duplicates', () => {
    expect(choicesOf(item([rendition(), rendition({ label: 'again' })])).video).toHaveLength(1);
  });

  it.each<[string, Partial<MediaRendition>, object]>([
    ['a file', { fileSizeBytes: 5, height: 7 }, { sizeBytes: 5, height: 7, isMuxed: false, isSizeEstimate: false }],
    ['a combined stream', { urlType: 'Combined', fileSizeBytes: 5 }, { isMuxed: true, isSizeEstimate: true }],
    ['a size and a height of 0', { fileSizeBytes: 0, height: 0 }, { sizeBytes: undefined, height: undefined }],
    ['empty texts', { label: '', mimeType: '', fileExtension: '.webm' }, { label: 'WEBM', container: 'WEBM' }],
  ])('tell of %s', (_, changes, expected) => {
    expect(choicesOf(item([rendition(changes)])).video[0]).toMatchObject(expected);
  });

  it.each(['Media', 'Combined'] as const)('leaves canSeek of %s undefined', (urlType) => {
    expect(choicesOf(item([rendition({ urlType })])).video[0]).not.toHaveProperty('canSeek');
  });

  it.each([
    ['Title', { number: 3, count: 120 }, '003 - Author - Title'],
    ['Title', undefined, 'Author - Title'],
    // Whole characters of a title that is cut.
    [`${'a'.repeat(190)}😀 and more`, undefined, `Author - ${'a'.repeat(190)}😀`],
  ])('begin the names of files of %.9s at the place %j with %.30s', (title, place, named) =>
    expect(choicesOf({ ...item([rendition()]), title }, { place }).video[0]?.title).toBe(named),
  );

  it.each<[string, Partial<MediaRendition>, boolean]>([
    ['MP4', { height: 1080 }, true],
    ['MP4 of H.264', { description: '1080p (avc1)' }, true],
    ['MP4 of AV1', { description: '1080p av1' }, false],
    ['MP4 of AV1 by its tag', { description: 'video av01.0.08M.08' }, false],
    ['MP4 of VP9', { description: '137 - vp9' }, false],
    ['MP4 of HEVC', { mimeType: 'video/mp4; codecs="hvc1"' }, false],
    ['MP4 with Opus', { description: '1080p + opus' }, false],
    ['4K, whatever it is', { height: 2160 }, false],
    ['WebM', { fileExtension: '.webm' }, false],
    ['MP3', { fileExtension: '.mp3' }, true],
    ['FLAC', { fileExtension: '.flac' }, false],
    ['a name that only sounds so', { description: 'Opusculum' }, true],
  ])('say what plays everywhere: %s', (_, changes, plays) => {
    expect(choicesOf(item([rendition(changes)])).video[0]?.playsEverywhere).toBe(plays);
  });
});

describe('preselection', () => {
  const of = (key: string, height: number, changes: Partial<MediaRendition> = {}) =>
    rendition({ key, height, label: `${height}p`, ...changes });
  const ladder = item(
    [
      of('8k', 4320, { description: 'av01' }),
      of('4k', 2160, { description: 'vp9' }),
      of('1080-av1', 1080, { description: 'av01' }),
      of('1080', 1080, { description: 'avc1', urlType: 'Combined' }),
      of('720', 720),
    ],
    [sound({ key: 'opus', fileExtension: '.webm' }), sound({ key: 'aac' }), MP3],
  );
  const hasNoAv1 = (type: string) => !type.includes('av01');

  it.each<[string, Parameters<typeof choicesOf>[1], string]>([
    ['at most 1080p, what plays everywhere', {}, 'video:1080'],
    ['up to the height selected last', { preference: { group: 'video', height: 720 } }, 'video:720'],
    [
      'nothing that does not play here',
      { preference: { group: 'video', height: 4320 }, canPlay: hasNoAv1 },
      'video:4k',
    ],
    ['audio that plays everywhere', { preference: { group: 'audio' } }, 'audio:aac'],
    ['the conversion', { preference: { group: 'audio', container: 'MP3' } }, 'audio:K:mp3'],
    ['the smallest when none fits', { preference: { group: 'video', height: 100 } }, 'video:720'],
  ])('selects %s', (_, options, id) => expect(choicesOf(ladder, options).preselected?.id).toBe(id));

  it('shows one row per height, preferring what plays everywhere', () => {
    const rows = rowsOf(choicesOf(ladder).video).map(({ rendition: { key } }) => key);
    expect(rows).toEqual(['8k', '4k', '1080', '720']);
  });

  it('names the codec', () => {
    expect(choicesOf(ladder).video.map(({ codec }) => codec)).toEqual(['AV1', 'VP9', 'AV1', 'H.264', undefined]);
  });
});

describe('choicesOf with conversions', () => {
  const AAC = sound({ key: 'AAC' });
  const OPUS = sound({ key: 'OPUS', label: '160 kbps', fileExtension: '.webm', mimeType: 'audio/webm; codecs="opus"' });
  const VIDEO_FILE = rendition({ key: 'BOTH', label: '720p', height: 720 });
  const SIZED_MP3 = mp3Of({ key: 'OPUS', fileSizeBytes: 1_920_000 });
  const of = (...renditions: MediaRendition[]) => choicesOf(item([], renditions));

  it('has MP3 in each bit rate, with tags', () => {
    const mp3 = of(OPUS, SIZED_MP3).audio.slice(0, 4);
    expect(mp3.map(({ id, label, sizeBytes, isSizeEstimate }) => [id, label, sizeBytes, isSizeEstimate])).toEqual([
      ['audio:OPUS:mp3:320', '320 kbps', 3_265_536, true],
      ['audio:OPUS:mp3:256', '256 kbps', 2_625_536, true],
      ['audio:OPUS:mp3', '192 kbps', 1_985_536, true],
      ['audio:OPUS:mp3:128', '128 kbps', 1_345_536, true],
    ]);
    expect(mp3.slice(1, 3).map(pathOf)).toEqual([
      '/api/Stream/Media/OPUS?format=mp3&bitrate=256&tags=true',
      '/api/Stream/Media/OPUS?format=mp3&tags=true',
    ]);
  });

  it('has only the listed MP3 when its bit rate is none of those', () => {
    const [mp3, next] = of(OPUS, { ...SIZED_MP3, bitrate: 160, label: '160 kbps' }).audio;
    expect([mp3, next].map((choice) => [choice?.id, choice?.label])).toEqual([
      ['audio:OPUS:mp3', '160 kbps'],
      ['audio:OPUS', '160 kbps'],
    ]);
  });

  it.each<[string, MediaRendition[], string[]]>([
    ['AAC in a file of its own', [AAC, SIZED_MP3], ['audio:AAC', 'audio:OPUS:wav']],
    ['files with video, which are no sound', [VIDEO_FILE, SIZED_MP3], ['audio:BOTH:m4a', 'audio:OPUS:wav']],
    ['Opus', [OPUS, SIZED_MP3], ['audio:OPUS', 'audio:OPUS:opus', 'audio:OPUS:wav']],
    [
      'AAC that is named',
      [OPUS, sound({ key: 'AAC', fileExtension: '.aac', mimeType: 'audio/aac' })],
      ['audio:OPUS', 'audio:AAC', 'audio:AAC:m4a', 'audio:OPUS:opus'],
    ],
    ['FLAC in another file', [sound({ key: 'AAC', description: 'flac', fileExtension: '.mka' })], ['audio:AAC']],
    ['no known duration', [OPUS, { ...SIZED_MP3, fileSizeBytes: null }], ['audio:OPUS', 'audio:OPUS:opus']],
    ['the MP3 alone', [SIZED_MP3], ['audio:OPUS:wav']],
  ])('offers copies and WAV for %s', (_, renditions, ids) => {
    const others = of(...renditions).audio.filter(({ container }) => container !== 'MP3');
    expect(others.map(({ id }) => id)).toEqual(ids);
  });

  it('describes M4A and WAV', () => {
    const choices = of(VIDEO_FILE, { ...SIZED_MP3, key: 'BOTH' }).audio.slice(4);
    expect(choices).toMatchObject([
      {
        label: 'M4A',
        codec: 'AAC',
        hasTags: true,
        playsEverywhere: true,
        sizeBytes: 1_345_536,
        isSizeEstimate: true,
      },
      { label: 'WAV', codec: 'PCM', sizeBytes: 15_360_000, isSizeEstimate: true },
    ]);
    expect(choices.map(pathOf)).toEqual([
      '/api/Stream/Media/BOTH?format=m4a&tags=true',
      '/api/Stream/Media/BOTH?format=wav',
    ]);
  });

  it.each([
    ['the bit rate selected last', { container: 'MP3', bitrateKbps: 320 }, 'audio:OPUS:mp3:320'],
    ['the listed bit rate', { container: 'MP3' }, 'audio:OPUS:mp3'],
    ['the listed bit rate for one that is not offered', { container: 'MP3', bitrateKbps: 64 }, 'audio:OPUS:mp3'],
    ['the conversion selected last', { container: 'WAV' }, 'audio:OPUS:wav'],
    ['no conversion that encodes otherwise', {}, 'audio:OPUS'],
  ])('preselects %s', (_, format, id) => {
    const choices = choicesOf(item([], [OPUS, SIZED_MP3]), { preference: { group: 'audio', ...format } });
    expect(choices.preselected?.id).toBe(id);
  });
});

describe('secondsOf', () => {
  it.each([
    ['what the size of an MP3 tells', item([], [mp3Of({ fileSizeBytes: 24_000 * 61 + 300 })]), expect.closeTo(61, 1)],
    ['unknown without a size', item([], [MP3]), undefined],
    ['unknown without an MP3', itemOf(), undefined],
  ])('is %s', (_, media, seconds) => expect(secondsOf(media)).toEqual(seconds));
});
