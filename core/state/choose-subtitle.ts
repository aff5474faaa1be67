import { InvalidParameter } from '../errors/index.ts';
import type { Resource, Subtitle } from './resource.ts';

/**
 * The subtitles in a language, by people before automatic ones. Without a language, in the one that is spoken: automatic
 * captions are in that language, and some tracks name it.
 * @param language BCP 47 in any case; `en` finds `en-US` too
 * @throws InvalidParameter, which lists the languages
 */
export function chooseSubtitle({ subtitles = [], tracks }: Resource, language?: string): Subtitle {
  const byPeople = subtitles.toSorted((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic));
  const find = (wanted = '') =>
    byPeople.find((each) => each.language.toLowerCase() === wanted.toLowerCase()) ??
    byPeople.find((each) => primaryOf(each.language) === primaryOf(wanted));
  const spoken = [
    // YouTube's `en-orig` is `en`, in which there may be some by people.
    subtitles.find(({ isAutomatic }) => isAutomatic)?.language.replace(/-orig$/, ''),
    tracks.find((track) => track.audio && track.language)?.language,
    'en',
  ];
  const found = language ? find(language) : [...spoken.map(find), ...byPeople].find(Boolean);
  if (found) return found;
  const languages = [...new Set(subtitles.map((each) => each.language))].join(', ');
  throw new InvalidParameter(
    languages ? `No subtitles in ${language}. Available: ${languages}.` : 'The media has no subtitles.',
  );
}

const primaryOf = (language: string): string => language.toLowerCase().split(/[-_]/, 1)[0] ?? '';
