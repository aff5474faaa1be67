import { type IndexedBox, indexBox } from './box-index.ts';
import { box, UnsupportedMp4, u32 } from './boxes.ts';
import { type OutputTrack, writeTrack, writeTrackDefaults } from './movie-header.ts';
import { MEDIA_TIMES, TRACK_TIMES, timesVersion } from './track-header.ts';

/**
 * A `moov` with further tracks and other metadata; the fragments that follow it stay valid.
 * @param moov the whole box
 * @param udta in place of the one there is. Absent: that one stays
 * @throws UnsupportedMp4 when mandatory boxes are missing
 */
export function extendMovie(moov: Buffer, tracks: readonly OutputTrack[], udta?: Buffer): Buffer {
  const root = indexBox(moov);
  if (root?.type !== 'moov' || root.end !== moov.length) throw new UnsupportedMp4('Not a whole moov');
  const mvhd = root.require('mvhd', MEDIA_TIMES[1].end);
  const timescale = moov.readUInt32BE(mvhd.content + MEDIA_TIMES[timesVersion(moov, mvhd)].timescale);
  const { children } = root;
  const traks = children.filter(({ type }) => type === 'trak');
  if (traks.length === 0) throw new UnsupportedMp4('No track');
  const firstId = 1 + Math.max(...traks.map(trackId));
  const added = tracks.map((track, index) => writeTrack(track, firstId + index, timescale));
  const defaults = tracks.map((track, index) => writeTrackDefaults(track, firstId + index));

  const content = children.flatMap(({ type, start, content: from, end }) => {
    const bytes = moov.subarray(start, end);
    switch (type) {
      case 'mvhd':
        // `next_track_ID` is its last field (ISO/IEC 14496-12 §8.2.2).
        return [bytes.subarray(0, -4), u32(firstId + tracks.length)];
      case 'mvex':
        return [...added, box('mvex', moov.subarray(from, end), ...defaults)];
      case 'udta':
        return udta ? [] : [bytes];
      default:
        return [bytes];
    }
  });
  const hasFragments = children.some(({ type }) => type === 'mvex');
  return box('moov', ...content, ...(hasFragments ? [] : added), ...(udta ? [udta] : []));
}

function trackId(trak: IndexedBox): number {
  const { bytes } = trak;
  const tkhd = trak.require('tkhd', TRACK_TIMES[1].end);
  return bytes.readUInt32BE(tkhd.content + TRACK_TIMES[timesVersion(bytes, tkhd)].trackId);
}
