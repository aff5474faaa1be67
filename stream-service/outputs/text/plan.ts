import { SUBTITLE_TYPES, type SubtitleFormat } from '@reelay/seekable-media/subtitles';
import { NotFound } from '../../../core/errors/index.ts';
import {
  chooseSubtitle,
  type KeyedSubtitle,
  type Resource,
  type Subtitle,
  type Track,
} from '../../../core/state/index.ts';
import type { PlannedOutput } from '../representation.ts';

/** A subtitle file of a resource. */
export interface SelectedSubtitle {
  readonly subtitle: Subtitle;
  readonly track: Track;
}

/** The subtitles of a resource in a language. @throws InvalidParameter when there are none, listing the available languages */
export function selectSubtitle(resource: Resource, language: string): SelectedSubtitle {
  const subtitle = chooseSubtitle(resource, language);
  const track = resource.tracks.find(({ formatId }) => formatId === subtitle.formatId);
  if (!track) throw new NotFound('The subtitles have no track');
  return { subtitle, track };
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
