import type { KeyedRendition } from '../../../core/state/index.ts';
import { needsRemux } from '../../source/index.ts';
import type { PlannedExtras } from '../extras.ts';
import type { PlannedOutput, RepresentationHead } from '../representation.ts';
import { COMBINED, selectFormat } from './mux-format.ts';

/** Tracks that FFmpeg copies into one file of unknown size, from the beginning: a pair, segments, or a file. */
export interface MuxPlan extends PlannedOutput {
  readonly kind: 'mux';
  readonly found: KeyedRendition;
  readonly extras: PlannedExtras;
}

export function planMux(found: KeyedRendition, extras: PlannedExtras): MuxPlan {
  const { tracks } = found;
  const { mimeType, fileExtension } = tracks.length > 1 ? COMBINED : selectFormat(found, extras.container);
  const head = { mimeType, fileExtension, size: undefined, acceptRanges: 'none' } as const;
  return {
    kind: 'mux',
    found,
    extras,
    head: withEstimate(
      head,
      tracks.map(({ sizeBytes }) => sizeBytes),
    ),
    answersHead: tracks.length === 1 || tracks.every((track) => needsRemux(track) || track.sizeIsExact),
  };
}

/** A pair has the bytes of its tracks and about a thousandth more: an estimate, never a Content-Length. */
export function withEstimate(
  head: RepresentationHead,
  [first, ...others]: readonly (number | undefined)[],
): RepresentationHead {
  if (others.length === 0) return head;
  const total = others.reduce((sum = Number.NaN, bytes = Number.NaN) => sum + bytes, first);
  return { ...head, estimatedBytes: total || undefined };
}
