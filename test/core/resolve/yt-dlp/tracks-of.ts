import { readExtraction } from '../../../../core/parsing/extraction/index.ts';
import { type Candidate, readTracks } from '../../../../core/resolve/yt-dlp/tracks.ts';

/** The tracks of an item as yt-dlp describes it. */
export const tracksOf = (info: Readonly<Record<string, unknown>>, now = 0): Candidate[] =>
  readTracks(readExtraction({ info }).info, now);
