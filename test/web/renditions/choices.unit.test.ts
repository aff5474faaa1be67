import { describe, expect, it } from 'vitest';
import type { MediaRendition } from '../../../web/src/api/index.ts';
import { choicesOf } from '../../../web/src/renditions/choices.ts';
import { rowsOf } from '../../../web/src/renditions/format-preference.ts';
import { itemOf, referenceOf, renditionOf as rendition } from '../fakes/resources.ts';

const sound = (changes: Partial<MediaRendition> = {}) =>
  rendition({ label: '129 kbps', fileExtension: '.m4a', mimeType: 'audio/mp4', ...changes });
const MP3 = sound({ convertTo: 'mp3', label: '192 kbps', fileExtension: '.mp3', mimeType: 'audio/mpeg', bitrate: 192 });

const item = (video: MediaRendition[], audio: MediaRendition[] = []) =>
  itemOf({
    ...(video.length > 0 && { video: referenceOf(...video) }),
    ...(audio.length > 0 && { audio: referenceOf(...audio) }),
  });

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
    [
      'a file',
      { fileSizeBytes: 5, height: 1080 },
      { sizeBytes: 5, height: 1080, isMuxed: false, isSizeEstimate: false },
    ],
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
    expect(rowsOf(choicesOf(ladder).video).map(({ id }) => id)).toEqual([
      'video:8k',
      'video:4k',
      'video:1080',
      'video:720',
    ]);
  });

  it('names the codec', () => {
    expect(choicesOf(ladder).video.map(({ codec }) => codec)).toEqual(['AV1', 'VP9', 'AV1', 'H.264', undefined]);
  });
});
