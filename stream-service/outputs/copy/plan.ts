import type { FileType } from '../../../core/media/codecs/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import type { PlannedExtras } from '../extras.ts';
import type { PlannedOutput } from '../representation.ts';

/** A file, sent as it is. */
export interface CopyPlan extends PlannedOutput {
  readonly kind: 'copy';
  readonly found: KeyedRendition;
  /** What the header of a list of segments has besides. */
  readonly extras: PlannedExtras;
}

/** @param type of the answer. @default that of the rendition */
export function planCopy(
  found: KeyedRendition,
  { mimeType, fileExtension }: FileType = found.rendition,
  extras: PlannedExtras = {},
): CopyPlan {
  const [{ sizeIsExact, sizeBytes }] = found.tracks;
  const size = sizeIsExact ? sizeBytes : undefined;
  const head = { mimeType, fileExtension, size, acceptRanges: 'bytes' } as const;
  return { kind: 'copy', found, extras, head, answersHead: false };
}
