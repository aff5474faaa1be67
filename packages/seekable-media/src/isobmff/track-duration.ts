import { type Box, type HandlerType, indexMovie } from './boxes.ts';
import { listTracks, MEDIA_TIMES, timesVersion } from './track-header.ts';

/** Duration and size of a track by its sample tables, which its headers may contradict. */
export interface TableDuration {
  /** Sum of the sample durations (`stts`); 0 when the samples are in fragments. */
  readonly seconds: number;
  /** Sum of the sample sizes (`stsz`). */
  readonly bytes: number;
  /** The longest sample, and how long one may be. */
  readonly longestSeconds: number;
  readonly maxSampleSeconds: number;
}

/** The longest pause in a recording that is written as one long sample. A picture may last for hours. */
const MAX_AUDIO_SAMPLE_SECONDS = 60;
/** More rows than any real table has. */
const MAX_ROWS = 10_000_000;

/**
 * Reads how long and how large the first track of a kind is by its sample tables (ISO/IEC 14496-12 §8.6.1.2, §8.7.3.2).
 * @param moov its content
 * @returns undefined without such a track, or when its tables are malformed
 */
export function readTableDuration(moov: Buffer, kind: HandlerType): TableDuration | undefined {
  const mdia = listTracks(indexMovie(moov))
    .find((track) => track.kind === kind)
    ?.trak.find('mdia');
  const mdhd = mdia?.find('mdhd');
  const times = mdia?.find('minf', 'stbl', 'stts');
  const sizes = mdia?.find('minf', 'stbl', 'stsz');
  if (!mdhd || !times || !sizes || sizes.end - sizes.content < 12) return undefined;
  const timescale = readTimescale(moov, mdhd);
  const duration = sumDurations(moov, times);
  const bytes = sumSizes(moov, sizes);
  if (!timescale || !duration || bytes === undefined) return undefined;
  return {
    seconds: duration.total / timescale,
    longestSeconds: duration.longest / timescale,
    maxSampleSeconds: kind === 'soun' ? MAX_AUDIO_SAMPLE_SECONDS : Number.POSITIVE_INFINITY,
    bytes,
  };
}

function readTimescale(moov: Buffer, mdhd: Box): number | undefined {
  const fields = MEDIA_TIMES[timesVersion(moov, mdhd)];
  return mdhd.content + fields.end > mdhd.end ? undefined : moov.readUInt32BE(mdhd.content + fields.timescale);
}

function sumDurations(moov: Buffer, { content, end }: Box) {
  if (end - content < 8) return undefined;
  const rows = moov.readUInt32BE(content + 4);
  if (rows > MAX_ROWS || content + 8 + rows * 8 > end) return undefined;
  let total = 0;
  let longest = 0;
  for (let at = content + 8; at < content + 8 + rows * 8; at += 8) {
    const count = moov.readUInt32BE(at);
    const each = moov.readUInt32BE(at + 4);
    total += count * each;
    if (count > 0 && each > longest) longest = each;
  }
  return { total, longest };
}

function sumSizes(moov: Buffer, { content, end }: Box): number | undefined {
  const fixed = moov.readUInt32BE(content + 4);
  const count = moov.readUInt32BE(content + 8);
  if (fixed > 0) return fixed * count;
  if (count > MAX_ROWS || content + 12 + count * 4 > end) return undefined;
  let total = 0;
  for (let at = content + 12; at < content + 12 + count * 4; at += 4) total += moov.readUInt32BE(at);
  return total;
}
