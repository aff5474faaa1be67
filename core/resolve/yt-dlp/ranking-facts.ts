import { type Info, text } from '../../parsing/index.ts';

/** What yt-dlp says of a format beyond the track itself: renditions are ranked by it, and stored with the flaws that follow. */
export interface RankingFacts {
  /** yt-dlp's `preference`: the extractor's own rating, such as -1 for a re-encoded copy, -100 for an unplayable one. */
  readonly preference: number;
  /** yt-dlp's `source_preference`: lower for a worse server, and -2 for an HLS track that is not the default one. */
  readonly sourcePreference: number;
  /** yt-dlp's `quality`: the source's own scale, comparable within one item. */
  readonly quality: number;
  /** yt-dlp's `language_preference`: higher for the original language than for a dub or an audio description. */
  readonly languagePreference: number;
  /** The source states `languagePreference`: otherwise it follows from the languages of format and item, or is the default. */
  readonly statesLanguagePreference: boolean;
  /** `has_drm: "maybe"`: the manifest mentions DRM, and some of its formats can be read nevertheless. */
  readonly mayHaveDrm: boolean;
  /** yt-dlp's `impersonate`: the site requires the TLS of a browser, which media requests do not imitate. */
  readonly needsImpersonation: boolean;
  /** The source calls it a copy with a watermark. */
  readonly isWatermarked: boolean;
  /** The audio describes the picture to people who do not see it. */
  readonly isAudioDescription: boolean;
  /** The source calls the audio the original one. */
  readonly isOriginalAudio: boolean;
  /** The dynamic range of the audio is compressed (YouTube's "stable volume"). */
  readonly isDrc: boolean;
  /** The video has a high dynamic range. */
  readonly isHdr: boolean;
}

/** yt-dlp's defaults in its own sorting, and a language below its default. */
const UNSPECIFIED = { preference: 0, sourcePreference: -1, quality: -1, languagePreference: -1 };
const FOREIGN_LANGUAGE = -2;
/** yt-dlp's `language_preference` of an audio description. */
const DESCRIPTION_LANGUAGE_PREFERENCE = -10;

const AUDIO_DESCRIPTION =
  /\baudio.?descri|\bdescri(?:ptive|bed)\b|\bdescriptions?\b|audiodeskription|h[oö]rfilm|audiodescripci[oó]n|audiodescrizione|\bvisually impaired\b/i;
const WATERMARKED = /(?<!\b(?:no|without|non|un)[ -]?)watermark(?:ed)?\b(?!-free)/i;
const ORIGINAL = /\borig/i;
const DRC = /(?:^|[^a-z])drc(?:$|[^a-z])/i;
const HDR_CODEC = /^(?:vp0?9\.0?2|dv(?:h1|he|av|a1))/i;
const HDR_NOTE = /\bhdr(?:10\+?)?\b/i;

/** Whether a text about a format, such as yt-dlp's description, calls its audio an audio description. */
export const namesAudioDescription = (text: string): boolean => AUDIO_DESCRIPTION.test(text);

/** Reads from a format of an item what ranks it. Unknown figures are yt-dlp's defaults. */
export function readRankingFacts(format: Info, info: Info): RankingFacts {
  const note = text(format.format_note) ?? '';
  const id = text(format.format_id) ?? '';
  const languagePreference = languagePreferenceOf(format, info);
  return {
    preference: finite(format.preference, UNSPECIFIED.preference),
    sourcePreference: finite(format.source_preference, UNSPECIFIED.sourcePreference),
    quality: finite(format.quality, UNSPECIFIED.quality),
    languagePreference,
    statesLanguagePreference: finite(format.language_preference, undefined) !== undefined,
    mayHaveDrm: format.has_drm === 'maybe',
    needsImpersonation: format.impersonate === true,
    isWatermarked: WATERMARKED.test(note) || WATERMARKED.test(id),
    isAudioDescription: languagePreference <= DESCRIPTION_LANGUAGE_PREFERENCE || AUDIO_DESCRIPTION.test(note),
    isOriginalAudio: ORIGINAL.test(note),
    isDrc: DRC.test(note) || DRC.test(id),
    isHdr: isHdr(format, note),
  };
}

/** yt-dlp writes SDR where it knows nothing else: codec and note count as well. */
function isHdr(format: Info, note: string): boolean {
  const range = text(format.dynamic_range) ?? 'SDR';
  return range.toUpperCase() !== 'SDR' || HDR_CODEC.test(text(format.vcodec) ?? '') || HDR_NOTE.test(note);
}

function languagePreferenceOf(format: Info, info: Info): number {
  const stated = finite(format.language_preference, undefined);
  if (stated !== undefined) return stated;
  const [language, original] = [text(format.language), text(info.language)];
  return language && original && language !== original ? FOREIGN_LANGUAGE : UNSPECIFIED.languagePreference;
}

/** Infinity would make differences of two candidates NaN. */
const finite = <Default>(value: unknown, otherwise: Default): number | Default =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
