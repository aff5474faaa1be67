import { describe, expect, it } from 'vitest';
import { createApi } from '../../../web/src/api/api.ts';
import type { MediaInformation, MediaRendition } from '../../../web/src/api/contract.ts';
import type { AudioVersion, Choice, DetailedAudio } from '../../../web/src/renditions/choice.ts';
import { type ChoicesOptions, choicesOf } from '../../../web/src/renditions/choices.ts';
import { languageChange, menusOf, nameOf, withExtras } from '../../../web/src/renditions/sentence.ts';

const ENGLISH = { language: 'en', isOriginal: true, isDubbed: false, isDescriptive: false, isDrc: false };
const GERMAN = { ...ENGLISH, language: 'de', isOriginal: false, isDubbed: true };

const rendition = (key: string, label: string, changes: Partial<MediaRendition> = {}): MediaRendition => ({
  key,
  label,
  fileExtension: '.mp4',
  mimeType: 'video/mp4',
  urlType: 'Media',
  ...changes,
});
const sound = (key: string, label: string, changes: Partial<MediaRendition> = {}) =>
  rendition(key, label, { fileExtension: '.m4a', mimeType: 'audio/mp4', ...changes });
const detailed = (of: MediaRendition, version: AudioVersion): DetailedAudio => ({ ...of, version });

const ORIGINAL = sound('EN', '129 kbps English (original)', { bitrate: 129 });
const DUB = sound('DE', '96 kbps German (dubbed)', { bitrate: 96 });
const DETAILS = [detailed(ORIGINAL, ENGLISH), detailed(DUB, GERMAN)];
const MP3 = sound('EN', '192 kbps', {
  fileExtension: '.mp3',
  convertTo: 'mp3',
  bitrate: 192,
  fileSizeBytes: 9e6,
});
const ITEM: MediaInformation = {
  requestedUrl: 'https://a.example/',
  title: 'Title',
  author: null,
  coverUrl: null,
  video: { renditions: [rendition('V', '1080p', { height: 1080 }), rendition('W', '720p60 HDR', { height: 720 })] },
  audio: { renditions: [ORIGINAL, MP3] },
};

const of = (options: ChoicesOptions = {}) => choicesOf(ITEM, { audio: DETAILS, ...options });
const find = (choices: ReturnType<typeof of>, id: string): Choice =>
  [...choices.video, ...choices.audio, ...choices.mp3].find((choice) => choice.id === id) ?? expect.fail(`no ${id}`);
const urlOf = (choice: Choice) => createApi('').streamUrl(choice.rendition, choice);

describe('the menus of the sentence', () => {
  it('name formats without the version of the audio', () => {
    const choices = of();
    expect(menusOf(choices, find(choices, 'video:V')).formats.map(nameOf)).toEqual(['1080p', '720p60 HDR']);
    const names = ['MP3 320', 'MP3 256', 'MP3 192', 'MP3 128', 'M4A 129', 'WAV'];
    expect(menusOf(choices, find(choices, 'audio:EN')).formats.map(nameOf)).toEqual(names);
    expect(menusOf(choices, find(choices, 'mp3:DE')).formats.map(nameOf)).toEqual(names.with(4, 'M4A 96'));
  });

  it.each([
    [
      'mp3:EN:320',
      [
        '/api/Stream/Media/EN?format=mp3&bitrate=320&tags=true',
        '/api/Stream/Media/DE?format=mp3&bitrate=320&tags=true',
      ],
    ],
    ['audio:EN:wav', ['/api/Stream/Media/EN?format=wav', '/api/Stream/Media/DE?format=wav']],
    // There is no dub of this bit rate.
    ['audio:EN', ['/api/Stream/Media/EN', '/api/Stream/Media/DE']],
    ['video:V', ['', '?audio=de', '?audio=all'].map((query) => `/api/Stream/Media/V${query}`)],
  ])('select the other version of %s in the same format', (id, urls) => {
    const choices = of();
    expect(menusOf(choices, find(choices, id)).versions.map(urlOf)).toEqual(urls);
  });

  it('have the versions of video that is listed for its audio', () => {
    const both = [rendition('EN', '720p English (original)'), rendition('DE', '720p German (dubbed)')];
    const [en, de] = both as [MediaRendition, MediaRendition];
    const item = { ...ITEM, video: { renditions: both }, audio: { renditions: both } };
    const choices = choicesOf(item, { audio: [detailed(en, ENGLISH), detailed(de, GERMAN)] });
    const { formats, versions } = menusOf(choices, find(choices, 'video:EN'));
    expect([formats.map(nameOf), versions.map(({ id }) => id)]).toEqual([['720p'], ['video:EN', 'video:DE']]);
  });

  it('name the files of other languages', () => {
    const { versions } = menusOf(of(), find(of(), 'video:V'));
    const suffixes = ['', ' (German)', ' (all languages)'];
    expect(versions.map(({ fileName }) => fileName)).toEqual(suffixes.map((text) => `Title (1080p)${text}.mp4`));
    expect(versions.map(({ isSizeEstimate }) => isSizeEstimate)).toEqual([false, true, true]);
  });

  it('have the words of the page for languages, in labels and names of files', () => {
    const nameOf = ({ language, isDubbed }: AudioVersion) =>
      isDubbed ? 'Deutsch (synchronisiert)' : language === 'all' ? 'alle Sprachen' : 'Originalton';
    const { video, audio, mp3 } = of({ words: { locale: 'de', nameOf } });
    const files = (choices: readonly Choice[]) => choices.map(({ label, fileName }) => `${label}: ${fileName}`);
    expect(files(audio).slice(0, 3)).toEqual([
      '129 kbps Originalton: Title (129 kbps Originalton).m4a',
      'WAV: Title.wav',
      '96 kbps Deutsch (synchronisiert): Title (96 kbps Deutsch synchronisiert).m4a',
    ]);
    expect(mp3.at(-1)?.label).toBe('128 kbps Deutsch (synchronisiert)');
    expect(video.slice(2, 5).map(({ fileName }) => fileName)).toEqual([
      'Title (1080p) (Deutsch).mp4',
      'Title (720p60 HDR) (Deutsch).mp4',
      'Title (1080p) (alle Sprachen).mp4',
    ]);
  });

  it('have the size of each language, and their sum for all', () => {
    const sized = [
      detailed({ ...ORIGINAL, fileSizeBytes: 100 }, ENGLISH),
      detailed({ ...DUB, fileSizeBytes: 70 }, GERMAN),
    ];
    const video = { renditions: [rendition('V', '1080p', { height: 1080, fileSizeBytes: 1000 })] };
    const choices = choicesOf({ ...ITEM, video }, { audio: sized });
    const { versions } = menusOf(choices, find(choices, 'video:V'));
    expect(versions.map(({ sizeBytes }) => sizeBytes)).toEqual([1000, 970, 1070]);
    const unsized = choicesOf({ ...ITEM, video }, { audio: DETAILS });
    expect(unsized.video.map(({ sizeBytes }) => sizeBytes)).toEqual([1000, 1000, undefined]);
  });

  it.each([
    ['the item has one', { audio: DETAILS.slice(0, 1) }],
    ['the other is described', { audio: [DETAILS[0], detailed(DUB, { ...GERMAN, isDescriptive: true })] }],
    ['the other is not known', { audio: [DETAILS[0], detailed(DUB, { ...GERMAN, language: null })] }],
  ])('have no other language of video where %s', (_, options) => {
    const choices = of(options as ChoicesOptions);
    expect(choices.video.map(({ id }) => id)).toEqual(['video:V', 'video:W']);
  });

  it('have one version where details are unknown', () => {
    const choices = choicesOf(ITEM);
    expect(menusOf(choices, find(choices, 'mp3:EN')).versions.map(({ id }) => id)).toEqual(['mp3:EN']);
  });
});

describe('all audio of an item', () => {
  it('comes after what is listed, with keys whose signatures differ', () => {
    const signed = {
      ...ITEM,
      audio: {
        renditions: [
          { ...ORIGINAL, key: 'EN.id.100.x' },
          { ...MP3, key: 'EN.id.100.x' },
        ],
      },
    };
    const audio = [
      detailed({ ...ORIGINAL, key: 'EN.id.200.y' }, ENGLISH),
      detailed({ ...DUB, key: 'DE.id.200.y' }, GERMAN),
    ];
    const choices = choicesOf(signed, { audio });
    expect(choices.audio.map(({ id }) => id)).toEqual([
      'audio:EN.id.100.x',
      'audio:EN.id.100.x:wav',
      'audio:DE.id.200.y',
      'audio:DE.id.200.y:wav',
    ]);
    expect(new Set(choices.mp3.map(({ version }) => version?.language))).toEqual(new Set(['en', 'de']));
  });

  it('names conversions of dubs', () =>
    expect(of().mp3.map(({ label, id }) => [id, label])).toEqual([
      ['mp3:EN:320', '320 kbps'],
      ['mp3:EN:256', '256 kbps'],
      ['mp3:EN', '192 kbps'],
      ['mp3:EN:128', '128 kbps'],
      ['mp3:DE:320', '320 kbps German (dubbed)'],
      ['mp3:DE:256', '256 kbps German (dubbed)'],
      ['mp3:DE', '192 kbps German (dubbed)'],
      ['mp3:DE:128', '128 kbps German (dubbed)'],
    ]));
});

describe('the language that was selected last', () => {
  it.each([
    ['audio:DE', { group: 'audio', language: 'de' }],
    ['mp3:DE:320', { group: 'mp3', bitrateKbps: 320, language: 'de' }],
    ['audio:EN', { group: 'audio', language: 'fr' }],
    ['audio:EN', { group: 'audio' }],
    ['video:V', { group: 'video' }],
    ['video:V:de', { group: 'video', language: 'de' }],
    ['video:V:all', { group: 'video', language: 'all' }],
    ['audio:EN', { group: 'audio', language: 'all' }],
  ] as const)('preselects %s for %j', (id, preference) => expect(of({ preference }).preselected?.id).toBe(id));

  it.each([
    ['mp3:EN', 'mp3:DE', { language: 'de' }],
    ['mp3:DE', 'mp3:EN', { language: undefined }],
    ['mp3:EN', 'audio:EN', {}],
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

describe('withExtras', () => {
  it('puts subtitles into video in MP4 alone', () => {
    const choices = of();
    const urls = ['video:V', 'audio:EN'].map((id) => urlOf(withExtras(find(choices, id), { subtitles: 'pt-BR' })));
    expect(urls).toEqual(['/api/Stream/Media/V?subtitles=pt-BR', '/api/Stream/Media/EN']);
  });

  it('leaves tags out', () => {
    const mp3 = find(of(), 'mp3:EN');
    expect([{}, { hasTags: false }].map((wish) => urlOf(withExtras(mp3, wish)))).toEqual([
      '/api/Stream/Media/EN?format=mp3&tags=true',
      '/api/Stream/Media/EN?format=mp3',
    ]);
  });
});
