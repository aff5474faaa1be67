import { readExtraction } from '../../../../core/parsing/extraction.ts';
import { type Candidate, readTracks } from '../../../../core/resolve/yt-dlp/tracks.ts';

/** A format as yt-dlp describes it. */
export type Format = Readonly<Record<string, unknown>>;

/** A file in MP4 with this id and further fields. */
export const formatOf = (id: string, more: Format): Format => ({
  format_id: id,
  url: `https://cdn.example/${id}`,
  protocol: 'https',
  ext: 'mp4',
  ...more,
});

/** The tracks of an item as yt-dlp describes it. */
export const tracksOf = (info: Format, now = 0): Candidate[] => readTracks(readExtraction({ info }).info, now);
