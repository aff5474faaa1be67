import { createCache } from '@reelay/concurrency';
import type { FrameEncoding } from './frame-encoding.ts';
import { type FrameRange, type Layout, partAt } from './layout.ts';

/** Encoded units of conversions, which short ranges are cut out of: further ranges nearby start no encoder. */
export interface EncodedUnits {
  /** Those of one conversion. @param entity identifies the content of the source and the FFmpeg build */
  of(entity: string, encoding: FrameEncoding): UnitsOfConversion;
}

export interface UnitsOfConversion {
  get(unit: EncodedUnit): Buffer | undefined;
  set(unit: EncodedUnit, bytes: Buffer): void;
}

/** Some frames of one segment. */
export interface EncodedUnit {
  readonly range: FrameRange;
  /** Offset of its first byte in the layout; negative or within the tag where a clip begins in the middle of it. */
  readonly offset: number;
}

const MAX_UNITS = 1000;

/** @param budgetBytes limit over all conversions, beyond which the least recently used units are evicted */
export function createEncodedUnits(budgetBytes: number): EncodedUnits {
  const units = createCache<string, Buffer>({
    maxEntries: MAX_UNITS,
    maxWeight: budgetBytes,
    weightOf: ({ length }) => length,
  });
  return {
    of(entity, encoding) {
      const prefix = JSON.stringify([entity, encoding]);
      const keyOf = ({ range: { firstFrame, endFrame } }: EncodedUnit) => `${prefix} ${firstFrame}-${endFrame}`;
      return {
        get: (unit) => units.get(keyOf(unit)),
        set: (unit, bytes) => void units.set(keyOf(unit), bytes),
      };
    },
  };
}

/** The unit with the byte at an offset of a layout, behind the tag. It ends with the part of the layout. */
export function unitAt(layout: Layout, at: number): EncodedUnit {
  const { tagBytes, encoding } = layout;
  const { frameBytes, segmentFrames, unitFrames } = encoding;
  const frame = Math.floor((at - tagBytes) / frameBytes);
  const part = partAt(layout, frame);
  const left = part.firstFrame - part.before;
  const firstFrame = left + frame - ((left + frame) % unitFrames);
  const endFrame = Math.min(firstFrame + unitFrames, part.firstFrame + part.frames);
  return {
    range: {
      segment: Math.floor(firstFrame / segmentFrames),
      firstFrame,
      endFrame,
      slice: [0, (endFrame - firstFrame) * frameBytes],
    },
    offset: tagBytes + (firstFrame - left) * frameBytes,
  };
}
