import { InvalidParameter } from '../../../core/errors/index.ts';
import type { Resource, Subtitle, Track } from '../../../core/state/index.ts';

/** A subtitle file of a resource. */
export interface SelectedSubtitle {
  readonly subtitle: Subtitle;
  readonly track: Track;
}

/**
 * The subtitles of a resource in a language: those made by people before automatic captions.
 * @param language BCP 47, as GetDetails lists it, in any case
 * @throws InvalidParameter when there are none, listing the available languages
 */
export function selectSubtitle({ subtitles = [], tracks }: Resource, language: string): SelectedSubtitle {
  const matching = subtitles.filter((each) => each.language.toLowerCase() === language.toLowerCase());
  const subtitle = matching.find(({ isAutomatic }) => !isAutomatic) ?? matching[0];
  const track = tracks.find(({ formatId }) => formatId === subtitle?.formatId);
  if (subtitle && track) return { subtitle, track };
  const languages = [...new Set(subtitles.map((each) => each.language))];
  const present = languages.length > 0 ? `There are: ${languages.join(', ')}.` : 'There are none.';
  throw new InvalidParameter(`There are no subtitles in ${language}. ${present}`);
}
