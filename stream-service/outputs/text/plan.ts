import { SUBTITLE_TYPES, type SubtitleFormat } from '@reelay/seekable-media/subtitles';
import { InvalidParameter } from '../../../core/errors/index.ts';
import type { KeyedSubtitle, Resource, Subtitle, Track } from '../../../core/state/index.ts';
import type { PlannedOutput } from '../representation.ts';

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
  const present = languages.length > 0 ? `Available: ${languages.join(', ')}.` : 'The item has none at all.';
  throw new InvalidParameter(`No subtitles in ${language}. ${present}`);
}

/** A subtitle file, converted. */
export interface TextPlan extends PlannedOutput {
  readonly kind: 'text';
  readonly found: KeyedSubtitle;
  readonly format: SubtitleFormat;
}

export function planSubtitle(found: KeyedSubtitle, format: SubtitleFormat = 'vtt'): TextPlan {
  const head = { mimeType: SUBTITLE_TYPES[format], fileExtension: `.${found.subtitle.language}.${format}` };
  return {
    kind: 'text',
    found,
    format,
    head: { ...head, size: undefined, acceptRanges: undefined },
    // Its length and tag are those of the converted file: HEAD reads the source too, which is small.
    answersHead: false,
  };
}
