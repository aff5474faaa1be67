import type { FileType } from '../../../core/media/codecs/index.ts';
import type { KeyedRendition } from '../../../core/state/index.ts';
import type { PlannedOutput } from '../representation.ts';

/** A direct file, sent as it is. */
export interface CopyPlan extends PlannedOutput {
  readonly kind: 'copy';
  readonly found: KeyedRendition;
}

/** @param type of the answer. @default that of the rendition */
export function planCopy(found: KeyedRendition, type: FileType = found.rendition): CopyPlan {
  const { mimeType, fileExtension } = type;
  const [{ sizeIsExact, sizeBytes }] = found.tracks;
  const size = sizeIsExact ? sizeBytes : undefined;
  return { kind: 'copy', found, head: { mimeType, fileExtension, size, acceptRanges: 'bytes' }, answersHead: false };
}
