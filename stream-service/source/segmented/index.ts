import type { SourceKind } from '../source-kind.ts';
import { loadDash, loadHls } from './load-timeline.ts';
import { openSegments } from './segmented-source.ts';

/** HLS: the playlist is fetched, and fetched again while live. */
export const hls: SourceKind = {
  needsRemux: true,
  open: (request) => openSegments(request, { load: loadHls, isResolved: false }),
};

/** DASH: resolving lists the fragments, so that reloading means resolving again. */
export const dash: SourceKind = {
  needsRemux: true,
  open: (request) => openSegments(request, { load: loadDash, isResolved: true }),
};
