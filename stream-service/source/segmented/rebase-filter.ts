import { UpstreamError } from '../../../core/errors/index.ts';
import {
  type InitTrack,
  isSameDescription,
  parseInitTracks,
  rebaseFragment,
} from '../../../core/media/isobmff/index.ts';
import { type Placement, type SegmentFacts, shownTimes } from '../../../core/media/mp4-window/index.ts';
import { collectInit, createBoxFilter, type DiscontinuityFilter, withType } from './discontinuity-filter.ts';
import { findMoov, KINDS } from './window-reader.ts';

/**
 * Moves the segments of a window to their places, without a change of length.
 * @param placement has the segments before those that are read
 * @param factsOf what is known of a segment, by its sequence number
 */
export function createRebase(
  placement: Placement,
  factsOf: (sequence: number) => SegmentFacts | undefined,
  tracks: readonly InitTrack[],
): DiscontinuityFilter {
  /** Those of what is read at present. */
  let current = tracks;
  return {
    selection: 'all',
    init: () =>
      collectInit((bytes) => {
        current = parseInitTracks(findMoov(bytes) ?? Buffer.alloc(0));
        if (!isSameDescription(tracks, current, KINDS)) throw new UpstreamError('Encoding changed at a discontinuity');
        return Buffer.alloc(0);
      }),
    segment(_, segment) {
      if (!segment) throw new TypeError('A segment without its place');
      const { sequence, seconds, content } = segment;
      const facts = factsOf(sequence);
      let shift: number | undefined;
      let bytes = 0;
      const boxes = createBoxFilter({
        moof(moof) {
          shift ??= placement.shiftOf(Math.min(...shownTimes(moof, current).map(({ start }) => start)));
          return rebaseFragment(moof, (id) => {
            const track = current.find((each) => each.id === id);
            return track ? Math.round(((shift ?? 0) + track.delaySeconds) * track.timescale) : 0;
          });
        },
        // Its times no longer apply.
        sidx: (index) => withType(index, 'free'),
      });
      const counted = (chunk: Buffer): Buffer => {
        bytes += chunk.length;
        return chunk;
      };
      return {
        update(chunk) {
          if (content.cipher) throw new UpstreamError('The segments have changed');
          return counted(boxes.update(chunk));
        },
        final() {
          const rest = counted(boxes.final());
          if (facts?.bytes !== bytes) throw new UpstreamError('A segment has changed');
          placement.add({ facts, seconds });
          return rest;
        },
      };
    },
  };
}
