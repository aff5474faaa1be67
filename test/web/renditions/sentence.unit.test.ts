import { describe, expect, it } from 'vitest';
import type { AudioVersion, MediaRendition } from '../../../web/src/api/index.ts';
import type { Choice } from '../../../web/src/renditions/choice.ts';
import { type ChoicesOptions, choicesOf } from '../../../web/src/renditions/choices.ts';
import { languageChange, menusOf, nameOf } from '../../../web/src/renditions/sentence.ts';
import { mediaOf, mp3Of, pathOf, referenceOf, renditionOf, soundOf } from '../fakes/resources.ts';

const ENGLISH = { language: 'en', isOriginal: true, isDubbed: false, isDescriptive: false, isDrc: false };
const GERMAN = { ...ENGLISH, language: 'de', isOriginal: false, isDubbed: true };

const rendition = (key: string, label: string, changes: Partial<MediaRendition> = {}) =>
  renditionOf({ key, label, ...changes });
const detailed = (of: MediaRendition, version: Omit<AudioVersion, keyof MediaRendition>): AudioVersion => ({
  ...of,
  ...version,
});

const ORIGINAL = soundOf({ key: 'EN', label: '129 kbps English (original)', bitrate: 129, fileSizeBytes: 6e6 });
const DUB = soundOf({ key: 'DE', label: '96 kbps German (dubbed)', bitrate: 96, fileSizeBytes: 4e6 });
const DETAILS = [detailed(ORIGINAL, ENGLISH), detailed(DUB, GERMAN)];
const MP3 = mp3Of({ key: 'EN', fileSizeBytes: 9e6 });
const ITEM = mediaOf(
  [rendition('V', '1080p', { height: 1080 }), rendition('W', '720p60 HDR', { height: 720 })],
  [ORIGINAL, MP3],
);

/** As the page names them in English. */
const nameOfVersion = ({ language, isDubbed }: AudioVersion) => {
  const name = { de: 'German', all: 'all languages' }[language ?? ''] ?? 'English';
  return isDubbed ? `${name} (dubbed)` : name;
};
const detailsOf = (audio: readonly AudioVersion[], nameOf = nameOfVersion) => ({ details: { audio, nameOf } });
const of = (options: ChoicesOptions = {}) => choicesOf(ITEM, { ...detailsOf(DETAILS), ...options });
const find = (choices: ReturnType<typeof of>, id: string): Choice =>
  [...choices.video, ...choices.audio].find((choice) => choice.id === id) ?? expect.fail(`no ${id}`);

describe('the menus of the sentence', () => {
  it('name formats without the version of the audio', () => {
    const choices = of();
    expect(menusOf(choices, find(choices, 'video:V')).formats.map(nameOf)).toEqual(['1080p', '720p60 HDR']);
    const names = ['M4A 129', 'MP3 128', 'WAV'];
    expect(menusOf(choices, find(choices, 'audio:EN')).formats.map(nameOf)).toEqual(names);
    expect(menusOf(choices, find(choices, 'audio:DE:mp3:128')).formats.map(nameOf)).toEqual(names.with(0, 'M4A 96'));
  });

  it('name the codec of audio in WebM', () => {
    const opus = rendition('O', '160 kbps', { fileExtension: '.webm', mimeType: 'audio/webm', description: 'opus' });
    const choices = choicesOf({ ...ITEM, audio: referenceOf(opus) });
    expect(nameOf(find(choices, 'audio:O'))).toBe('Opus 160');
  });

  it.each([
    [
      'audio:EN:mp3:128',
      [
        '/api/Stream/Media/EN?format=mp3&bitrate=128&tags=true',
        '/api/Stream/Media/DE?format=mp3&bitrate=128&tags=true',
      ],
    ],
    ['audio:EN:wav', ['/api/Stream/Media/EN?format=wav', '/api/Stream/Media/DE?format=wav']],
    // There is no dub of this bit rate.
    ['audio:EN', ['/api/Stream/Media/EN', '/api/Stream/Media/DE']],
    ['video:V', ['', '?audio=de', '?audio=all'].map((query) => `/api/Stream/Media/V${query}`)],
  ])('select the other version of %s in the same format', (id, urls) => {
    const choices = of();
    expect(menusOf(choices, find(choices, id)).versions.map(pathOf)).toEqual(urls);
  });

  it('have the versions of video that is listed for its audio', () => {
    const [en, de] = [rendition('EN', '720p English (original)'), rendition('DE', '720p German (dubbed)')];
    const item = { ...ITEM, video: referenceOf(en, de), audio: referenceOf(en, de) };
    const choices = choicesOf(item, detailsOf([detailed(en, ENGLISH), detailed(de, GERMAN)]));
    const { formats, versions } = menusOf(choices, find(choices, 'video:EN'));
    expect([formats.map(nameOf), versions.map(({ id }) => id)]).toEqual([['720p'], ['video:EN', 'video:DE']]);
  });

  it('have the words of the page for languages', () => {
    const nameOf = ({ language, isDubbed }: AudioVersion) =>
      isDubbed ? 'Deutsch (synchronisiert)' : language === 'all' ? 'alle Sprachen' : 'Originalton';
    const { video, audio } = of(detailsOf(DETAILS, nameOf));
    const labels = (choices: readonly Choice[]) => choices.map(({ label }) => label);
    expect(labels(audio)).toEqual([
      ...['129 kbps Originalton', '128 kbps', 'WAV'],
      ...['96 kbps', '128 kbps', 'WAV'].map((label) => `${label} Deutsch (synchronisiert)`),
    ]);
    expect(labels(video)).toEqual([
      ...['1080p', '720p60 HDR'],
      ...['1080p Deutsch (synchronisiert)', '720p60 HDR Deutsch (synchronisiert)'],
      ...['1080p alle Sprachen', '720p60 HDR alle Sprachen'],
    ]);
  });

  it('have the size of each language, and their sum for all', () => {
    const sized = [
      detailed({ ...ORIGINAL, fileSizeBytes: 100 }, ENGLISH),
      detailed({ ...DUB, fileSizeBytes: 70 }, GERMAN),
    ];
    const video = referenceOf(rendition('V', '1080p', { height: 1080, fileSizeBytes: 1000 }));
    const choices = choicesOf({ ...ITEM, video }, detailsOf(sized));
    const { versions } = menusOf(choices, find(choices, 'video:V'));
    expect(versions.map(({ sizeBytes }) => sizeBytes)).toEqual([1000, 970, 1070]);
    expect(versions.map(({ isSizeEstimate }) => isSizeEstimate)).toEqual([false, true, true]);
    const details = detailsOf(DETAILS.map((each) => ({ ...each, fileSizeBytes: null })));
    const unsized = choicesOf({ ...ITEM, video }, details);
    expect(unsized.video.map(({ sizeBytes }) => sizeBytes)).toEqual([1000, 1000, undefined]);
  });

  it.each([
    ['the item has one', []],
    ['the other is described', [detailed(DUB, { ...GERMAN, isDescriptive: true })]],
    ['the other is not known', [detailed(DUB, { ...GERMAN, language: null })]],
  ])('have no other language of video where %s', (_, others) => {
    const choices = of(detailsOf([...DETAILS.slice(0, 1), ...others]));
    expect(choices.video.map(({ id }) => id)).toEqual(['video:V', 'video:W']);
  });

  it('select the original language of the listed video', () => {
    const choices = of(detailsOf(DETAILS.slice(0, 1)));
    expect(menusOf(choices, find(choices, 'video:V')).versions.map(({ version }) => version)).toEqual(
      DETAILS.slice(0, 1),
    );
  });

  it('have one version where details are unknown', () => {
    const choices = choicesOf(ITEM);
    expect(menusOf(choices, find(choices, 'audio:EN')).versions.map(({ id }) => id)).toEqual(['audio:EN']);
  });
});

describe('all audio of an item', () => {
  it('follows the listed audio, matched by keys with different signatures', () => {
    const signed = {
      ...ITEM,
      audio: referenceOf({ ...ORIGINAL, key: 'EN.id.100.x' }, { ...MP3, key: 'EN.id.100.x' }),
    };
    const audio = [
      detailed({ ...ORIGINAL, key: 'EN.id.200.y' }, ENGLISH),
      detailed({ ...DUB, key: 'DE.id.200.y' }, GERMAN),
    ];
    const choices = choicesOf(signed, detailsOf(audio));
    const files = choices.audio.filter(({ container }) => container !== 'MP3');
    // The same choice is known again after another resolve, and its file has the signature of this one.
    expect(files.map(({ id, rendition }) => [id, rendition.key])).toEqual([
      ['audio:EN', 'EN.id.100.x'],
      ['audio:EN:wav', 'EN.id.100.x'],
      ['audio:DE', 'DE.id.200.y'],
      ['audio:DE:wav', 'DE.id.200.y'],
    ]);
    const mp3 = choices.audio.filter(({ container }) => container === 'MP3');
    expect(new Set(mp3.map(({ version }) => version?.language))).toEqual(new Set(['en', 'de']));
  });
});

describe('the language that was selected last', () => {
  it.each([
    ['audio:DE', { group: 'audio', language: 'de' }],
    ['audio:DE:mp3:128', { group: 'audio', container: 'MP3', bitrateKbps: 320, language: 'de' }],
    ['audio:EN', { group: 'audio', language: 'fr' }],
    ['audio:EN', { group: 'audio' }],
    ['video:V', { group: 'video' }],
    ['video:V:de', { group: 'video', language: 'de' }],
    ['video:V:all', { group: 'video', language: 'all' }],
    ['audio:EN', { group: 'audio', language: 'all' }],
  ] as const)('preselects %s for %j', (id, preference) => expect(of({ preference }).preselected?.id).toBe(id));

  it.each([
    ['audio:EN:mp3:128', 'audio:DE:mp3:128', { language: 'de' }],
    ['audio:DE:mp3:128', 'audio:EN:mp3:128', { language: undefined }],
    ['audio:EN:mp3:128', 'audio:EN', {}],
    // The language of one does not change that of the other.
    ['audio:DE', 'video:V', {}],
    ['video:V', 'audio:EN', {}],
    ['video:V', 'video:W:all', { language: 'all' }],
    ['video:V:de', 'video:V', { language: undefined }],
  ])('changes from %s to %s to %j', (before, choice, change) => {
    const choices = of();
    expect(languageChange(choices, find(choices, before), find(choices, choice))).toEqual(change);
  });
});
