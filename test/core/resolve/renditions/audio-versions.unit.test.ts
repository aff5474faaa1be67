import { describe, expect, it } from 'vitest';
import { languageName, languageTag } from '../../../../core/resolve/renditions/audio-versions.ts';
import { selectRenditions } from '../../../../core/resolve/renditions/select-renditions.ts';
import type { Rendition } from '../../../../core/state/resource.ts';
import { type Format, formatOf as format, tracksOf } from '../yt-dlp/tracks-of.ts';
import { candidatesOf, formatLists } from './format-lists.ts';

/** Languages, as an extractor prefers one of them. */
const ORIGINAL = { language: 'en', language_preference: 10 };
const DUB = { language: 'de', language_preference: -1 };
const DESCRIPTION = { format_note: 'Audio Description' };
const audio = (id: string, more: Format = {}) =>
  format(id, { vcodec: 'none', acodec: 'mp4a.40.2', ext: 'm4a', abr: 128, ...more });
const both = (id: string, more: Format = {}) =>
  format(id, { vcodec: 'avc1', acodec: 'mp4a.40.2', height: 720, ...more });

const renditionsOf = (...formats: Format[]) => selectRenditions(tracksOf({ formats }, 0)).renditions;
/** What is told of renditions, and whether `audio` of GetResource leaves them out. */
const told = (renditions: readonly Rendition[]) =>
  Object.fromEntries(
    renditions.map(({ formatIds, label, isAlternate }) => [
      formatIds.join('+'),
      isAlternate ? `${label} | alternate` : label,
    ]),
  );
const ofList = (name: string, side: Rendition['side'] = 'audio') => {
  const list = formatLists.find((one) => one.name === name) ?? expect.fail(name);
  return told(selectRenditions(candidatesOf(list)).renditions.filter((rendition) => rendition.side === side));
};

describe('the label of audio', () => {
  it('names what tells the audio of an item apart', () => {
    expect(ofList('Youtube dubbed')).toEqual({
      '140-1': '129 kbps English (original)',
      '251-1': '121 kbps English (original)',
      '140-1-drc': '129 kbps English (original, DRC) | alternate',
      '251-1-drc': '121 kbps English (original, DRC) | alternate',
      '140-0': '129 kbps German (dubbed) | alternate',
      '251-0': '120 kbps German (dubbed) | alternate',
      '140-2': '129 kbps English (descriptive) | alternate',
      '251-2': '122 kbps English (descriptive) | alternate',
    });
    expect(ofList('youtube-drc-and-damaged')).toMatchObject({ '251-drc': expect.stringMatching(/kbps \(DRC\) \|/) });
  });

  it('is short where all audio is of one language and version', () => {
    expect(Object.values(ofList('youtube-2024-a')).join()).toMatch(/^(?:(?:\d+ kbps|M4A|WEBM),?)+$/);
    expect(ofList('vimeo')).toEqual(
      Object.fromEntries(Object.keys(ofList('vimeo')).map((id) => [id, expect.not.stringContaining('(')])),
    );
  });

  it('is without "original" where all audio is', () => {
    const formats = [audio('a', { format_note: 'original' }), audio('drc', { format_note: 'original DRC' })];
    expect(told(renditionsOf(...formats))).toEqual({ a: '128 kbps', drc: '128 kbps (DRC) | alternate' });
  });

  it('of a video names its audio where that tells videos apart', () => {
    expect(ofList('BrainPOP', 'video')).toEqual({
      'en-high': expect.stringMatching(/p English$/),
      'es-high': expect.stringMatching(/p Spanish \(dubbed\)/),
      'ad-high': expect.stringMatching(/p English \(descriptive\)/),
    });
    expect(Object.values(ofList('Youtube dubbed', 'video')).join()).not.toMatch(/English/);
  });

  it.each<[string, Format]>([
    ['its text', { format: 'de - Audio Description' }],
    ['its language', { language: 'de-audio-description' }],
  ])('names a description in another language by %s', (_, more) => {
    const main = audio('en', ORIGINAL);
    const described = audio('ad', { language: 'de', language_preference: -10, ...more });
    expect(told(renditionsOf(main, described)).ad).toMatch(/\(dubbed, descriptive\)/);
  });

  it('does not call the original version of a broadcast a dub, nor a description', () => {
    const labels = ofList('ARDMediathek', 'video');
    expect(labels['http-main-ov']).toBe('1080p English (original)');
    expect(labels['http-main']).toBe('1080p German');
    expect(labels['http-main-ad']).toMatch(/^1080p German \(descriptive\)/);
  });
});

describe('audio of GetResource', () => {
  it('has the languages that differ from the one of the item, which yt-dlp takes from a format', () => {
    const formats = [audio('fr', { language: 'fr' }), audio('en', { language: 'en' })];
    expect(told(selectRenditions(tracksOf({ language: 'en', formats }, 0)).renditions)).toEqual({
      en: '128 kbps English',
      fr: '128 kbps French',
    });
  });

  it('is without languages that a named original makes dubs', () => {
    expect(ofList('hls-languages-and-description')).toEqual({
      'hls-a-Originalton': 'M4A English (original)',
      'hls-a-Deutsch': 'M4A German (dubbed) | alternate',
      'hls-a-Audiodeskription': 'M4A German (dubbed, descriptive) | alternate',
    });
  });

  it('has all languages of which nothing says that they are dubs', () => {
    expect(ofList('HLS with several languages and a description')).toEqual({
      'hls-a-English': 'M4A English',
      'hls-a-Français': 'M4A French',
      'hls-a-English__Audio_Description_': 'M4A English (descriptive) | alternate',
    });
  });

  it.each<[string, Format[], Record<string, string>]>([
    [
      'a description that is all there is in its language',
      [audio('en', { language: 'en' }), audio('fr', { language: 'fr', ...DESCRIPTION })],
      { en: '128 kbps English', fr: '128 kbps French (descriptive)' },
    ],
    ['a compressed copy that is all there is', [audio('a', { format_note: 'DRC' })], { a: '128 kbps (DRC)' }],
    [
      'a dub beside an original that is damaged',
      [audio('en', { ...ORIGINAL, preference: -100 }), audio('de', DUB)],
      { de: '128 kbps German (dubbed)', en: '128 kbps English' },
    ],
    [
      'a compressed copy beside audio of its language that is damaged',
      [
        audio('de', { language: 'de' }),
        audio('en', { language: 'en', preference: -100 }),
        audio('drc', { language: 'en', format_note: 'DRC' }),
      ],
      { de: '128 kbps German', drc: '128 kbps English (DRC)', en: '128 kbps English' },
    ],
    [
      'a dub that only a description could replace, and none that is a description too',
      [
        audio('en', { ...ORIGINAL, preference: -100 }),
        audio('en-ad', { language: 'en', language_preference: -10 }),
        audio('fr', { language: 'fr', language_preference: -1 }),
        audio('de', { language: 'de', language_preference: -2 }),
        audio('es-ad', { language: 'es', language_preference: -11, format: 'Audio Description' }),
      ],
      {
        fr: '128 kbps French (dubbed)',
        de: '128 kbps German (dubbed)',
        'en-ad': '128 kbps English (descriptive)',
        'es-ad': '128 kbps Spanish (dubbed, descriptive) | alternate',
        en: '128 kbps English',
      },
    ],
    [
      'tracks of a lower preference without a language',
      [audio('a', { language_preference: 10 }), audio('b', { language_preference: -1 })],
      { a: '128 kbps', b: '128 kbps' },
    ],
    [
      'a track without a language beside a preferred one with it',
      [audio('a', ORIGINAL), audio('b', { language_preference: -1 })],
      { a: '128 kbps', b: '128 kbps' },
    ],
    [
      'the language of an item whose description alone is preferred',
      [audio('de', DUB), audio('ad', { ...ORIGINAL, ...DESCRIPTION })],
      { de: '128 kbps German', ad: '128 kbps English (descriptive)' },
    ],
    [
      'the language of audio whatever the preference of silent video is',
      [audio('de', DUB), both('v', { acodec: 'none', ...ORIGINAL })],
      { 'v+de': '720p', de: '128 kbps' },
    ],
  ])('has %s', (_, formats, expected) => expect(told(renditionsOf(...formats))).toEqual(expected));

  it('of an item without audio alone is without videos that describe the picture', () => {
    const main = both('main', { language: 'de', language_preference: 10 });
    const described = both('ad', { language: 'de', language_preference: -10, height: 1080 });
    expect(told(renditionsOf(described, main))).toEqual({ main: '720p', ad: '1080p (descriptive)' });
    expect(told(renditionsOf(described, { ...main, height: 1080 }))).toMatchObject({
      ad: '1080p (descriptive) | alternate',
    });
  });

  it('never lacks the best of any list, whose conversion it carries', () => {
    for (const list of formatLists) {
      const { renditions, conversionOf } = selectRenditions(candidatesOf(list));
      expect(renditions.find(({ side }) => side === 'audio')?.isAlternate).toBeUndefined();
      expect(renditions.find(({ id }) => id === conversionOf)?.isAlternate).toBeUndefined();
    }
  });
});

describe('what is stored of audio', () => {
  const stored = (...formats: Format[]) =>
    Object.fromEntries(
      renditionsOf(...formats).map(({ formatIds, ...rendition }) => [
        formatIds.join('+'),
        Object.fromEntries(Object.entries(rendition).filter(([name]) => /^(?:language|versions|flaws)$/.test(name))),
      ]),
    );
  const de = audio('de', DUB);

  it('is its language, its versions and its flaws, as far as there are any', () => {
    expect(stored(audio('a'))).toStrictEqual({ a: {} });
    expect(stored(de, audio('en', ORIGINAL))).toStrictEqual({
      en: { language: 'en' },
      de: { language: 'de', versions: ['dubbed'], flaws: ['dub'] },
    });
  });

  it('is no flaw of another language that is as good, nor of an unknown one that is not preferred less', () => {
    const en = audio('en', { language: 'en' });
    const languages = { en: { language: 'en' }, fr: { language: 'fr' } };
    expect(stored(en, audio('fr', { language: 'fr' }))).toStrictEqual(languages);
    expect(stored(en, audio('a', { source_preference: -5 })).a).toStrictEqual({});
  });

  it('is no flaw of the best audio, whatever video or a description is preferred', () => {
    expect(stored(de, both('v', ORIGINAL)).de?.flaws).toBeUndefined();
    expect(stored(de, audio('ad', { ...ORIGINAL, ...DESCRIPTION })).de?.flaws).toBeUndefined();
  });
});

describe('the description', () => {
  it.each<[Format, string | null]>([
    [audio('a', { format: 'a - audio only', language: 'eng' }), 'a - audio only, English'],
    [audio('a', { format: 'a - audio only (English original)', language: 'en' }), 'a - audio only (English original)'],
    [audio('a', { language: 'de', format_note: 'DRC' }), 'German, DRC'],
    [both('a', { format_note: 'watermarked' }), 'watermarked'],
    [both('a', { format: 'a - 1080p', format_note: 'AI-upscaled' }), 'a - 1080p, AI-upscaled'],
    [both('a', { format: 'a (1080p, AI-upscaled)', format_note: 'AI-upscaled' }), 'a (1080p, AI-upscaled)'],
    [audio('a', { format: 'a', format_note: 'voice boost' }), 'a, voice boost'],
    [both('a', { format: 'a - DAMAGED', preference: -100 }), 'a - DAMAGED'],
    [both('a', { format: 'a', preference: -100 }), 'a, damaged or unplayable'],
    [both('a', { fps: 60, format: 'a - 720P60' }), 'a - 720P60'],
    [both('a', { format: 'a - 720p', fps: 59.94, dynamic_range: 'HDR10' }), 'a - 720p, 60 fps, HDR'],
    [both('a', { format: 'a - 720p60 hdr10', fps: 60, dynamic_range: 'HDR10' }), 'a - 720p60 hdr10'],
    [both('a', { format: 'a - 720p', fps: 30 }), 'a - 720p'],
    [both('a'), null],
  ])('of %j is %s', (one, description) => expect(renditionsOf(one)[0]?.description).toBe(description));
});

describe('languageTag', () => {
  it.each([
    ['deu', 'de', 'German'],
    ['pt_br', 'pt-BR', 'Brazilian Portuguese'],
    ['en-desc', 'en', 'English'],
    ['deu-audio-description', 'de', 'German'],
    ['en-x-own', 'en-x-own', 'en-x-own'],
    ['qaa', 'qaa', 'qaa'],
  ])('of %s is %s, named %s', (text, tag, name) => {
    expect(languageTag(text)).toBe(tag);
    expect(languageName(tag)).toBe(name);
  });

  it('has 35 characters at most', () => {
    const longest = 'en-x-aaaaaaaa-aaaaaaaa-aaaaaaaa-aaa';
    expect([languageTag(longest), languageTag(`${longest}a`)]).toEqual([longest, undefined]);
  });

  it.each([undefined, '', 'und', 'mul', 'zxx', 'not a language', 'x'.repeat(100)])('of %j is none', (text) =>
    expect(languageTag(text)).toBeUndefined(),
  );
});
