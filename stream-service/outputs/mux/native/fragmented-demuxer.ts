import {
  type Box,
  boxHeader,
  MDAT_HEADER_BYTES,
  SEQUENCE_NUMBER_AT,
  UnsupportedMp4,
} from '../../../../core/media/isobmff/index.ts';
import { type ParsingOptions, REWRITE_FRAGMENT } from '../../../../core/parsing/index.ts';
import { readNextFragmentBox, readTopLevelBox } from './box-reader.ts';
import type { ByteReader } from './byte-reader.ts';
import { parseMp4 } from './parse-mp4.ts';
import type { NextFragment } from './track-fragments.ts';

/** A `moof` stays in memory until its samples have been sent. */
const MAX_MOOF_BYTES = 4 * 1024 * 1024;
const MAX_MDAT_BYTES = 0x7fff_ffff;

export interface FragmentedTrack {
  readonly reader: ByteReader;
  /** Offset of the end of `moov`. */
  readonly start: number;
  /** Units per second. */
  readonly timescale: number;
  /** Track id in the source. */
  readonly sourceId: number;
  /** 16 bytes of the source's `trex`: sample description index, duration, size, flags. */
  readonly defaults: Buffer;
  /** Track id in the output. */
  readonly id: number;
  readonly parsing: ParsingOptions;
}

/** The fragments of one track of a fragmented file, as the file has them. @throws UnsupportedMp4, and what reading throws */
export function demuxFragmented(track: FragmentedTrack): NextFragment {
  const { reader, start, timescale, sourceId, defaults, id, parsing } = track;
  let at = start;
  let endTime = 0n;
  let hasFragments = false;
  return async () => {
    for (;;) {
      const box = await (hasFragments ? readNextFragmentBox(reader, at) : readTopLevelBox(reader, at));
      if (!box) return undefined;
      at = box.end;
      if (box.type !== 'moof') continue;
      if (box.end - box.content > MAX_MOOF_BYTES) throw new UnsupportedMp4('moof too large');
      const moof = await reader.read(box.end - box.content);
      const mdat = await readMediaData(reader, box.end);
      at = mdat.end;
      hasFragments = true;
      const input = { moof, start: box.start, sourceId, id, defaults, fallbackTime: endTime };
      const fragment = await parseMp4(REWRITE_FRAGMENT, input, parsing);
      endTime = fragment.endTime;
      if (fragment.bytes === 0) continue;
      if (fragment.bytes > MAX_MDAT_BYTES) throw new UnsupportedMp4('Fragment too large');
      for (const { first, bytes } of fragment.ranges) {
        if (first < mdat.content || first + bytes > mdat.end) throw new UnsupportedMp4('Samples outside of their mdat');
      }
      return {
        startSeconds: Number(fragment.startTime) / timescale,
        ranges: fragment.ranges,
        header(sequence) {
          fragment.moof.writeUInt32BE(sequence, SEQUENCE_NUMBER_AT);
          return Buffer.concat([fragment.moof, boxHeader('mdat', fragment.bytes + MDAT_HEADER_BYTES)]);
        },
      };
    }
  };
}

/** The `mdat` after a `moof`; `free` boxes between them are skipped. */
async function readMediaData(reader: ByteReader, start: number): Promise<Box> {
  let box = await readTopLevelBox(reader, start);
  while (box?.type === 'free') box = await readTopLevelBox(reader, box.end);
  if (box?.type !== 'mdat') throw new UnsupportedMp4('A moof without mdat');
  return box;
}
