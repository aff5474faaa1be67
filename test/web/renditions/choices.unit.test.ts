import { describe, expect, it } from 'vitest';
import type { MediaRendition } from '../../../web/src/api/index.ts';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import { secondsOf } from '../../../web/src/renditions/conversions.ts';
import { rowsOf } from '../../../web/src/renditions/format-preference.ts';
import { nameOf } from '../../../web/src/renditions/sentence.ts';
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
  it('groups video and audio, the original and then MP3, and preselects one', () => {
    const choices = choicesOf(item([rendition({ key: 'A' }), rendition({ key: 'B' })], [sound({ key: 'C' }), MP3]));
    expect(choices.video.map(({ id }) => id)).toEqual(['video:A', 'video:B']);
    expect(choices.audio.map(({ id }) => id)).toEqual(['audio:C', 'audio:K:mp3', 'audio:K:mp3:128']);
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

  it.each<[Partial<MediaRendition>, string]>([
    [{ label: '404p', height: 720 }, '404×720'],
    [{ label: '404p60 HDR', height: 720 }, '404×720 HDR'],
    [{ label: '800p', height: 800, description: 'hd - 1920x800 (avc1)' }, '1920×800'],
    [{ label: '800p', height: 800, description: '1280x720' }, '800p'],
    [{ label: '404p', height: 404 }, '404p'],
    [{ label: '1080p', height: 1920, description: '1080x1920' }, '1080p'],
    [{ label: '129 kbps', height: null }, '129 kbps'],
  ])('names the resolution of %j %s', (changes, label) => {
    const [choice] = choicesOf(item([rendition(changes)])).video;
    expect([choice?.label, choice && nameOf(choice)]).toEqual([label, label.replace(' HDR', '')]);
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
  const AAC = sound({ key: 'AAC', fileSizeBytes: 1e6 });
  const OPUS = sound({
    key: 'OPUS',
    label: '160 kbps',
    fileExtension: '.webm',
    mimeType: 'audio/webm; codecs="opus"',
    bitrate: 159.6,
    fileSizeBytes: 1.6e6,
  });
  const VIDEO_FILE = rendition({ key: 'BOTH', label: '720p', height: 720, bitrate: 2000, fileSizeBytes: 20e6 });
  const mp3Of80s = (key: string) => mp3Of({ key, fileSizeBytes: 1_920_000 });
  const SIZED_MP3 = mp3Of80s('OPUS');
  const of = (...renditions: MediaRendition[]) => choicesOf(item([], renditions));
  const mp3s = (media: Parameters<typeof choicesOf>[0], options?: Parameters<typeof choicesOf>[1]) =>
    choicesOf(media, options).audio.filter(({ container }) => container === 'MP3');

  it.each<[string, MediaRendition, number[]]>([
    ['of its source', { ...OPUS, bitrate: 255.6 }, [256, 192, 128]],
    ['that is just below its source', OPUS, [128]],
    ['that there is, whatever its source has', { ...OPUS, bitrate: 48 }, [128]],
    ['that is listed, where its source is unknown', { ...OPUS, bitrate: null }, [192, 128]],
    ['that is listed, where its source has a picture', { ...VIDEO_FILE, key: 'OPUS' }, [192, 128]],
    ['of a source that loses nothing', { ...OPUS, bitrate: 900 }, [320, 256, 192, 128]],
  ])('has MP3 up to the bit rate %s', (_, source, rates) =>
    expect(mp3s(item([], [source, SIZED_MP3])).map(({ label }) => label)).toEqual(rates.map((kbps) => `${kbps} kbps`)),
  );

  it('has MP3 with tags, and its size', () => {
    const mp3 = mp3s(item([], [{ ...OPUS, bitrate: 256 }, SIZED_MP3]));
    expect(mp3.map(({ id, sizeBytes, isSizeEstimate }) => [id, sizeBytes, isSizeEstimate])).toEqual([
      ['audio:OPUS:mp3:256', 2_625_536, true],
      ['audio:OPUS:mp3', 1_985_536, true],
      ['audio:OPUS:mp3:128', 1_345_536, true],
    ]);
    expect(mp3.slice(0, 2).map(pathOf)).toEqual([
      '/api/Stream/Media/OPUS?format=mp3&bitrate=256&tags=true',
      '/api/Stream/Media/OPUS?format=mp3&tags=true',
    ]);
  });

  it('has the listed MP3 where archives are made, which have it of any source', () => {
    const isForArchive = true;
    const audio = { group: 'audio', container: 'MP3' } as const;
    const { preselected } = choicesOf(item([], [OPUS, SIZED_MP3]), { isForArchive, preference: audio });
    expect(preselected?.label).toBe('192 kbps');
  });

  it.each<[string, MediaRendition[], string[]]>([
    ['AAC in a file of its own', [AAC, mp3Of80s('AAC')], ['audio:AAC', 'audio:AAC:wav']],
    ['files with video, which are no sound', [VIDEO_FILE, mp3Of80s('BOTH')], ['audio:BOTH:m4a', 'audio:BOTH:wav']],
    ['Opus', [OPUS, SIZED_MP3], ['audio:OPUS', 'audio:OPUS:opus', 'audio:OPUS:wav']],
    [
      'AAC that is named',
      [OPUS, sound({ key: 'AAC', fileExtension: '.aac', mimeType: 'audio/aac' })],
      ['audio:OPUS', 'audio:AAC', 'audio:AAC:m4a', 'audio:OPUS:opus'],
    ],
    ['FLAC in another file', [sound({ key: 'AAC', description: 'flac', fileExtension: '.mka' })], ['audio:AAC']],
    ['no known duration', [OPUS, { ...SIZED_MP3, fileSizeBytes: null }], ['audio:OPUS', 'audio:OPUS:opus']],
    ['no known size', [{ ...OPUS, fileSizeBytes: null }, SIZED_MP3], ['audio:OPUS', 'audio:OPUS:opus']],
    ['the MP3 alone', [SIZED_MP3], []],
  ])('offers copies and WAV for %s', (_, renditions, ids) => {
    const others = of(...renditions).audio.filter(({ container }) => container !== 'MP3');
    expect(others.map(({ id }) => id)).toEqual(ids);
  });

  it('describes M4A and WAV', () => {
    const choices = of(VIDEO_FILE, mp3Of80s('BOTH')).audio.filter(({ container }) => container !== 'MP3');
    expect(choices).toMatchObject([
      { label: 'M4A', codec: 'AAC', hasTags: true, playsEverywhere: true, isSizeEstimate: true },
      { label: 'WAV', codec: 'PCM', sizeBytes: 15_360_000, isSizeEstimate: true },
    ]);
    expect(choices.map(pathOf)).toEqual([
      '/api/Stream/Media/BOTH?format=m4a&tags=true',
      '/api/Stream/Media/BOTH?format=wav',
    ]);
  });

  it.each<[string, MediaRendition[], number | undefined, true | undefined]>([
    ['at most what sound usually has', [VIDEO_FILE, mp3Of80s('BOTH')], 3_265_536, true],
    ['at most all of a small file', [{ ...VIDEO_FILE, fileSizeBytes: 1e6 }, mp3Of80s('BOTH')], 1_065_536, true],
    ['at most all of a file of unknown duration', [VIDEO_FILE], 20_065_536, true],
    ['unknown for a file of unknown size', [{ ...VIDEO_FILE, fileSizeBytes: null }], undefined, true],
    [
      'that of a file without a picture',
      [sound({ fileExtension: '.aac', mimeType: 'audio/aac', fileSizeBytes: 5e6 })],
      5_065_536,
      undefined,
    ],
  ])('says that M4A is %s', (_, renditions, sizeBytes, isSizeLimit) => {
    const copy = of(...renditions).audio.find(({ rendition: { convertTo } }) => convertTo === 'm4a');
    expect([copy?.sizeBytes, copy?.isSizeLimit]).toEqual([sizeBytes, isSizeLimit]);
  });

  it.each([
    ['the bit rate selected last', { container: 'MP3', bitrateKbps: 256 }, 'audio:OPUS:mp3:256'],
    ['the listed bit rate', { container: 'MP3' }, 'audio:OPUS:mp3'],
    ['the highest bit rate for one that is not offered', { container: 'MP3', bitrateKbps: 320 }, 'audio:OPUS:mp3:256'],
    ['the conversion selected last', { container: 'WAV' }, 'audio:OPUS:wav'],
    ['no conversion that encodes otherwise', {}, 'audio:OPUS'],
  ])('preselects %s', (_, format, id) => {
    const choices = choicesOf(item([], [{ ...OPUS, bitrate: 256 }, SIZED_MP3]), {
      preference: { group: 'audio', ...format },
    });
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
