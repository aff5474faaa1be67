import type { KeyedRendition } from '../../../core/state/index.ts';
import { needsRemux } from '../../source/index.ts';
import type { PlannedExtras } from '../extras.ts';
import type { PlannedOutput, RepresentationHead } from '../representation.ts';
import { COMBINED } from './mux-format.ts';

/** A video and an audio track, muxed from the beginning. */
export interface MuxPlan extends PlannedOutput {
  readonly kind: 'mux';
  readonly found: KeyedRendition;
  readonly extras: PlannedExtras;
}

export const planMux = (found: KeyedRendition, extras: PlannedExtras): MuxPlan => ({
  kind: 'mux',
  found,
  extras,
  head: muxedHead(found.tracks.map(({ sizeBytes }) => sizeBytes)),
  answersHead: found.tracks.every((track) => needsRemux(track) || track.sizeIsExact),
});

/** The size is that of the tracks and about a thousandth more: an estimate, never a Content-Length. */
export function muxedHead(trackBytes: readonly (number | undefined)[]): RepresentationHead {
  const { mimeType, fileExtension } = COMBINED;
  const total = trackBytes.reduce((sum = Number.NaN, bytes = Number.NaN) => sum + bytes, 0);
  return { mimeType, fileExtension, size: undefined, acceptRanges: 'none', estimatedBytes: total || undefined };
}
