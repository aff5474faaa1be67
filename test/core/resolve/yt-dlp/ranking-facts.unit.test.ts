import { describe, expect, it } from 'vitest';
import { readRankingFacts } from '../../../../core/resolve/yt-dlp/tracks.ts';

const DEFAULTS = {
  preference: 0,
  sourcePreference: -1,
  quality: -1,
  languagePreference: -1,
  statesLanguagePreference: false,
  mayHaveDrm: false,
  needsImpersonation: false,
  isUpscaled: false,
  isVoiceBoosted: false,
  isWatermarked: false,
  isAudioDescription: false,
  isOriginalAudio: false,
  isDrc: false,
  isHdr: false,
};

describe('readRankingFacts', () => {
  it.each<[Record<string, unknown>, object]>([
    [{}, {}],
    [{ preference: null, source_preference: 'x', quality: Number.POSITIVE_INFINITY, language_preference: [] }, {}],
    [
      { preference: -2, source_preference: 10, quality: 2.5 },
      { preference: -2, sourcePreference: 10, quality: 2.5 },
    ],
    [{ language_preference: 5 }, { languagePreference: 5, statesLanguagePreference: true }],
    [{ language_preference: -9 }, { languagePreference: -9, statesLanguagePreference: true }],
    [
      { language_preference: -10 },
      { languagePreference: -10, statesLanguagePreference: true, isAudioDescription: true },
    ],
    [{ has_drm: 'maybe' }, { mayHaveDrm: true }],
    [{ impersonate: true }, { needsImpersonation: true }],
    [{ has_drm: true }, {}],
    [{ format_note: 'Audiodeskription' }, { isAudioDescription: true }],
    [{ format_note: 'English (Audio Description)' }, { isAudioDescription: true }],
    [{ format_note: 'English descriptive' }, { isAudioDescription: true }],
    [{ format_note: 'Hörfilm' }, { isAudioDescription: true }],
    [{ format_note: 'Horfilm' }, { isAudioDescription: true }],
    [{ format_note: 'English original (default)' }, { isOriginalAudio: true }],
    [{ format_note: 'aboriginal' }, {}],
    [{ format_note: 'medium, DRC' }, { isDrc: true }],
    [{ format_note: 'DRC' }, { isDrc: true }],
    [{ format_id: '251-drc' }, { isDrc: true }],
    [{ format_id: 'drc-1' }, { isDrc: true }],
    [{ format_id: 'xdrc' }, {}],
    [{ format_id: 'drcx' }, {}],
    [{ format_note: '1080p, AI-upscaled' }, { isUpscaled: true }],
    // Elsewhere an id may end in a language.
    [{ format_id: '128-sr' }, {}],
    [{ format_note: 'medium, voice boost' }, { isVoiceBoosted: true }],
    [{ format_note: 'HD, watermarked' }, { isWatermarked: true }],
    [{ format_id: 'mp4-with-watermark' }, { isWatermarked: true }],
    [{ format_id: 'mp4-without-watermark', format_note: 'No watermark' }, {}],
    [{ format_note: 'unwatermarked, watermark-free' }, {}],
    [{ dynamic_range: 'sdr' }, {}],
    [{ dynamic_range: 'HDR10+' }, { isHdr: true }],
    [{ dynamic_range: 'DV' }, { isHdr: true }],
    [{ dynamic_range: 'SDR', vcodec: 'vp9.2' }, { isHdr: true }],
    [{ vcodec: 'vp09.02.51.10' }, { isHdr: true }],
    [{ vcodec: 'vp09.00.51.10' }, {}],
    [{ vcodec: 'dvh1.05.06' }, { isHdr: true }],
    [{ vcodec: 'x-vp9.2' }, {}],
    [{ format_note: '1080p60 HDR' }, { isHdr: true }],
    [{ format_note: 'HDR10' }, { isHdr: true }],
    [{ format_note: 'UHDR' }, {}],
    [{ format_note: 'HDRX' }, {}],
  ])('of %j differ from the defaults in %j', (format, facts) =>
    expect(readRankingFacts(format, {})).toEqual({ ...DEFAULTS, ...facts }),
  );

  it.each([
    ['399-sr', true, false],
    ['399-sr-0', true, false],
    ['140-vb', false, true],
    ['140-drc', false, false],
    ['399', false, false],
  ])('reads from the id %s of YouTube what the site has invented', (format_id, isUpscaled, isVoiceBoosted) =>
    expect(readRankingFacts({ format_id }, { extractor_key: 'Youtube' })).toMatchObject({ isUpscaled, isVoiceBoosted }),
  );

  it.each([
    ['en', 'en', -1],
    ['fr', 'en', -2],
    ['fr', undefined, -1],
    [undefined, 'en', -1],
  ])('ranks the language %s of an item in %s at %i', (language, original, expected) =>
    expect(readRankingFacts({ language }, { language: original }).languagePreference).toBe(expected),
  );
});
