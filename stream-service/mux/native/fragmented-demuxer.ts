import {
  boxHeader,
  type NextFragment,
  rewriteFragment,
  type TrackFragment,
  UnsupportedMp4,
} from '../../../core/media/isobmff/index.ts';
import { nextFragmentBox, topBox } from './box-reader.ts';
import type { ByteReader } from './byte-reader.ts';

/** A `moof` is held until its samples have been sent. */
const MAX_MOOF_BYTES = 4 * 1024 * 1024;
const MDAT_HEADER_BYTES = 8;
const MAX_MDAT_BYTES = 0x7fff_ffff;

export interface FragmentedTrack {
  readonly cursor: ByteReader;
  /** The place behind `moov`. */
  readonly start: number;
  readonly timescale: number;
  /** The track's number in its own file, its defaults there, and its number here. */
  readonly sourceId: number;
  readonly defaults: Buffer;
  readonly id: number;
}

/** The runs of a track that comes in fragments, each as its file has it. They throw Unsupported and what reading throws. */
export function demuxFragmented({ cursor, start, timescale, sourceId, defaults, id }: FragmentedTrack): NextFragment {
  let at = start;
  let time = 0n;
  let hasBegun = false;
  return async () => {
    for (;;) {
      const found = await (hasBegun ? nextFragmentBox(cursor, at) : topBox(cursor, at));
      if (!found) return undefined;
      at = found.end;
      if (found.type !== 'moof') continue;
      if (found.end - found.content > MAX_MOOF_BYTES) throw new UnsupportedMp4('A fragment without end');
      const moof = await cursor.read(found.end - found.content);
      const media = await nextMedia(cursor, found.end);
      at = media.end;
      hasBegun = true;
      const fragment = rewriteFragment({ moof, start: found.start, sourceId, id, defaults, time });
      time = fragment.endTime;
      if (fragment.bytes === 0) continue;
      if (fragment.bytes > MAX_MDAT_BYTES) throw new UnsupportedMp4('A fragment without end');
      for (const { first, bytes } of fragment.ranges) {
        if (first < media.content || first + bytes > media.end)
          throw new UnsupportedMp4('Samples outside of their box');
      }
      return {
        startSeconds: Number(fragment.startTime) / timescale,
        ranges: fragment.ranges,
        head: (sequence) =>
          Buffer.concat([fragment.moof(sequence), boxHeader('mdat', fragment.bytes + MDAT_HEADER_BYTES)]),
      } satisfies TrackFragment;
    }
  };
}

/** The `mdat` behind a `moof`. */
async function nextMedia(cursor: ByteReader, start: number) {
  let found = await topBox(cursor, start);
  while (found && found.type === 'free') found = await topBox(cursor, found.end);
  if (found?.type !== 'mdat') throw new UnsupportedMp4('A fragment without media');
  return found;
}
