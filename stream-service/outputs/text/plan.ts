import { SUBTITLE_TYPES, type SubtitleFormat } from '../../../core/media/subtitles/index.ts';
import type { KeyedSubtitle } from '../../../core/state/index.ts';
import type { PlannedOutput } from '../representation.ts';

/** A subtitle file, converted. */
export interface TextPlan extends PlannedOutput {
  readonly kind: 'text';
  readonly found: KeyedSubtitle;
  readonly format: SubtitleFormat;
}

export function planSubtitle(found: KeyedSubtitle, format: SubtitleFormat): TextPlan {
  const head = { mimeType: SUBTITLE_TYPES[format], fileExtension: `.${found.subtitle.language}.${format}` };
  return {
    ...{ kind: 'text', found, format },
    head: { ...head, size: undefined, acceptRanges: undefined },
    // Its length would need the whole file.
    answersHead: true,
  };
}
