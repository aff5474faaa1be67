import type { KeyedRendition } from '../../../core/state/index.ts';
import type { PlannedExtras } from '../extras.ts';
import { OGG, selectRemuxFormat } from '../mux/index.ts';
import type { PlannedOutput } from '../representation.ts';

/** HLS or DASH segments or a file, copied by FFmpeg into one file of unknown size. */
export interface RemuxPlan extends PlannedOutput {
  readonly kind: 'remux';
  readonly found: KeyedRendition;
  /** For MP4 and Ogg. */
  readonly extras: PlannedExtras;
}

export function planRemux(found: KeyedRendition, extras: PlannedExtras): RemuxPlan {
  const { mimeType, fileExtension } = extras.container === 'ogg' ? OGG : selectRemuxFormat(found.tracks[0]);
  const head = { mimeType, fileExtension, size: undefined, acceptRanges: 'none' } as const;
  return { kind: 'remux', found, extras, head, answersHead: true };
}
