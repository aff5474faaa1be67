import type { AudioVersion } from '../../state/index.ts';
import { type Candidate, namesAudioDescription } from '../yt-dlp/index.ts';
import { order, soundCriteria } from './criteria.ts';

/** What the source tells of the audio of a format, as labels, descriptions and GetDetails do. */
export interface AudioFacts {
  /** BCP 47; absent if unknown. */
  readonly language?: string;
  readonly versions: readonly AudioVersion[];
}

/** yt-dlp's `language_preference` of an audio description, and of a language that was not asked for. */
const LOWEST_LANGUAGE_PREFERENCE = -10;
/** yt-dlp's default. */
const UNSPECIFIED_LANGUAGE_PREFERENCE = -1;
/** Languages that say that there is none, several, or an unknown one. */
const NO_LANGUAGE = /^(?:und|mul|mis|zxx|root)\b/i;
/** What sites append to the language of an audio description. */
const DESCRIPTION_SUFFIX = /[-_](?:desc|audio[-_]description)$/i;
const MAX_TAG_CHARS = 35;

const names = new Intl.DisplayNames('en', { type: 'language' });

/** What is known of the audio of an item's formats, by format id. Those without audio are absent. */
export function readAudioFacts(candidates: readonly Candidate[]): ReadonlyMap<string, AudioFacts> {
  const audible = candidates
    .filter(({ track }) => track.audio)
    .map((candidate) => ({
      ...candidate,
      language: languageTag(candidate.track.language),
      languagePreference: statedPreference(candidate),
    }));
  const undescribed = audible.filter((candidate) => !isNamedDescription(candidate));
  const highest = Math.max(...undescribed.map(({ languagePreference }) => languagePreference));
  const preferred = undescribed.filter(({ languagePreference }) => languagePreference === highest);
  const named = preferred.filter(({ isOriginalAudio }) => isOriginalAudio);
  const originals = new Set((named.length > 0 ? named : preferred).map(({ language }) => language));

  const versionsOf = (candidate: (typeof audible)[number]): AudioVersion[] => {
    const { language, languagePreference, isOriginalAudio, isDrc } = candidate;
    const isOther = language !== undefined && !originals.has(language);
    const isLower = languagePreference < highest;
    const applies: Record<AudioVersion, boolean> = {
      original: isOriginalAudio,
      dubbed: isOther && !isOriginalAudio && (isLower || named.length > 0),
      descriptive:
        isNamedDescription(candidate) || (isLower && !isOther && languagePreference <= LOWEST_LANGUAGE_PREFERENCE),
      drc: isDrc,
    };
    return (Object.keys(applies) as AudioVersion[]).filter((version) => applies[version]);
  };
  return new Map(
    audible.map((candidate) => {
      const { track, language } = candidate;
      return [track.formatId, { ...(language && { language }), versions: versionsOf(candidate) }];
    }),
  );
}

/**
 * What follows from the language of the item ranks formats and says nothing about them: yt-dlp replaces that language by the
 * one of the format that it would select.
 */
const statedPreference = ({ languagePreference, statesLanguagePreference }: Candidate): number =>
  statesLanguagePreference ? languagePreference : UNSPECIFIED_LANGUAGE_PREFERENCE;

/** A low preference alone may be another language as well. */
const isNamedDescription = ({ track, isAudioDescription, languagePreference }: Candidate): boolean =>
  languagePreference > LOWEST_LANGUAGE_PREFERENCE
    ? isAudioDescription
    : namesAudioDescription(`${track.description ?? ''} ${track.language ?? ''}`);

/**
 * The format ids of dubs, audio descriptions and compressed copies beside which something else stands that is as sound:
 * clients that take the highest bitrate of a list would get them.
 * @param ranked formats with audio, best first; the first one is none
 */
export function findAlternates(
  ranked: readonly Candidate[],
  facts: ReadonlyMap<string, AudioFacts>,
): ReadonlySet<string> {
  const replaceable = ranked.slice(1).filter((candidate) => {
    const own = facts.get(candidate.track.formatId);
    return ranked.some((other) => {
      const others = facts.get(other.track.formatId);
      return own && others && replaces(others, own) && order(other, candidate, soundCriteria) <= 0;
    });
  });
  return new Set(replaceable.map(({ track }) => track.formatId));
}

function replaces(other: AudioFacts, own: AudioFacts): boolean {
  const lacks = (version: AudioVersion) => own.versions.includes(version) && !other.versions.includes(version);
  const isSameLanguage = other.language === own.language;
  if (lacks('descriptive') && isSameLanguage) return true;
  if (other.versions.includes('descriptive') && !own.versions.includes('descriptive')) return false;
  return lacks('dubbed') || (lacks('drc') && isSameLanguage);
}

/**
 * The language of a track as BCP 47, so that `deu` and `de`, `en-desc` and `en` are the same.
 * @param text as the source names it; undefined for what is no language
 */
export function languageTag(text: string | undefined): string | undefined {
  const plain = text?.replace(DESCRIPTION_SUFFIX, '').replaceAll('_', '-');
  if (!plain || plain.length > MAX_TAG_CHARS || NO_LANGUAGE.test(plain)) return undefined;
  try {
    return Intl.getCanonicalLocales(plain)[0];
  } catch {
    // Sources name languages freely.
    return undefined;
  }
}

/** In English, as labels are: `German`; the tag itself for one without a name. @param tag BCP 47 */
export function languageName(tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    // Such as a tag with an extension.
    return tag;
  }
}
