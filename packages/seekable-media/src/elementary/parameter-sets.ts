import { indexBox } from '../isobmff/index.ts';
import { h264 } from './h264.ts';
import { hevc } from './hevc.ts';
import type { VideoCodec } from './video-codec.ts';

/** The parameter sets of a sample entry, as samples have them. */
export interface ParameterSets {
  readonly codec: VideoCodec;
  /** Bytes of the length in front of a NAL unit. */
  readonly lengthBytes: number;
  /** Behind their lengths. */
  readonly bytes: Buffer;
}

/** Bytes of a `VisualSampleEntry` before its boxes. */
const ENTRY_BYTES = 78;

/** By `avcC` or `hvcC` (ISO/IEC 14496-15 §5.3.3.1.2, §8.3.3.1.2). Undefined: there are none, or they are damaged. */
export function readParameterSets(sampleEntry: Buffer): ParameterSets | undefined {
  const found = indexBox(sampleEntry)
    ?.childrenAfter(ENTRY_BYTES)
    .find(({ type }) => type === 'avcC' || type === 'hvcC');
  if (!found) return undefined;
  const isAvc = found.type === 'avcC';
  const codec = isAvc ? h264 : hevc;
  const configuration = sampleEntry.subarray(found.content, found.end);
  const lengthBytes = ((configuration[isAvc ? 4 : 21] ?? 0) & 3) + 1;
  const units: Buffer[] = [];
  let at = isAvc ? 5 : 22;
  const next = (bytes: number) => {
    at += bytes;
    return configuration.readUIntBE(at - bytes, bytes);
  };
  const readUnits = (count: number) => {
    for (let index = 0; index < count; index += 1) {
      const length = next(2);
      at += length;
      const unit = configuration.subarray(at - length, at);
      const lengthField = Buffer.alloc(lengthBytes);
      lengthField.writeUIntBE(length, 0, lengthBytes);
      if (codec.setKind(unit) !== undefined) units.push(lengthField, unit);
    }
  };
  try {
    if (isAvc) {
      readUnits(next(1) & 0x1f);
      readUnits(next(1));
    } else for (let arrays = next(1); arrays > 0; arrays -= 1) readUnits(next(3) & 0xffff);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return at > configuration.length ? undefined : { codec, lengthBytes, bytes: Buffer.concat(units) };
}
