import type { Choice, Choices } from './choice.ts';

/** Which rendition of each entry of a playlist to download. */
export const PLAYLIST_FORMATS = ['recommended', 'highest', 'audio', 'mp3'] as const;
export type PlaylistFormat = (typeof PLAYLIST_FORMATS)[number];

/** The rendition of an entry that a playlist's format selects; undefined without any. */
export function selectForPlaylist(
  { video, audio, mp3, preselected }: Choices,
  format: PlaylistFormat,
): Choice | undefined {
  switch (format) {
    case 'recommended':
      return preselected;
    case 'highest':
      return video[0] ?? audio[0] ?? mp3[0];
    case 'audio':
      return audio.find(({ playsEverywhere }) => playsEverywhere) ?? audio[0] ?? mp3[0] ?? preselected;
    case 'mp3':
      // The source audio may be MP3 already; then there is no conversion.
      return mp3[0] ?? audio.find(({ container }) => container === 'MP3') ?? audio[0] ?? preselected;
  }
}
