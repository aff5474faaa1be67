import { bounded } from './metadata.ts';
import { type Info, positiveInteger, text, withoutAbsent } from './yt-dlp-info.ts';

export interface AlbumPlace {
  readonly album?: string;
  /** From 1. */
  readonly trackNumber?: number;
}

const MAX_TRACK_NUMBER = 9999;

/** The album of a recording and its place there, or else the list on whose page it was found. */
export function readAlbum(info: Info): AlbumPlace {
  const album = text(info.album);
  const trackNumber = positiveInteger(album ? info.track_number : (info.track_number ?? info.playlist_index));
  return withoutAbsent<AlbumPlace>({
    album: bounded(album ?? text(info.playlist_title)) ?? undefined,
    trackNumber: trackNumber !== undefined && trackNumber <= MAX_TRACK_NUMBER ? trackNumber : undefined,
  });
}
