import { problems } from '../../core/api/index.ts';
import type { Resource, Subtitle } from '../../core/state/index.ts';

/**
 * The subtitles in a language, by people before automatic ones. Without a language, in the one that is spoken: automatic
 * captions are in that language, and some tracks name it.
 * @param language BCP 47 in any case; `en` finds `en-US` too
 * @throws Problem that lists the languages
 */
export function chooseSubtitle({ subtitles = [], tracks }: Resource, language?: string): Subtitle {
  const byPeople = subtitles.toSorted((a, b) => Number(a.isAutomatic) - Number(b.isAutomatic));
  const find = (wanted: string) =>
    byPeople.find((each) => each.language.toLowerCase() === wanted.toLowerCase()) ??
    byPeople.find((each) => primaryOf(each.language) === primaryOf(wanted));
  const spoken = [
    subtitles.find(({ isAutomatic }) => isAutomatic)?.language,
    tracks.find((track) => track.audio && track.language)?.language,
    'en',
  ];
  const inSpoken = () =>
    spoken
      .values()
      .map((each) => each && find(each))
      .find((each) => typeof each === 'object');
  const found = language ? find(language) : (inSpoken() ?? byPeople[0]);
  if (found) return found;
  const languages = [...new Set(subtitles.map((each) => each.language))].join(', ');
  throw problems.badRequest(
    languages ? `No subtitles in ${language}. Available: ${languages}.` : 'The media has no subtitles.',
  );
}

const primaryOf = (language: string): string => language.toLowerCase().split(/[-_]/, 1)[0] ?? '';
