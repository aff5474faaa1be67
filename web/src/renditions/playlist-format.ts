import type { MediaInformation } from '../api/index.ts';
import type { Choice, Choices } from './choice.ts';
import { selectAudio, selectMp3 } from './format-preference.ts';

/** Which rendition of each entry of a playlist to download. */
export const PLAYLIST_FORMATS = ['recommended', 'highest', 'audio', 'mp3'] as const;
export type PlaylistFormat = (typeof PLAYLIST_FORMATS)[number];

/** The rendition of an entry that a playlist's format selects; undefined without any. */
export function selectForPlaylist(
  { video, audio, mp3, preselected }: Choices,
  format: PlaylistFormat,
): Choice | undefined {
  // With the bit rate that was selected last.
  const mp3Choice = preselected?.group === 'mp3' ? preselected : selectMp3(mp3);
  switch (format) {
    case 'recommended':
      return preselected;
    case 'highest':
      return video[0] ?? audio[0] ?? mp3Choice;
    case 'audio':
      return selectAudio(audio) ?? mp3Choice ?? preselected;
    case 'mp3':
      // The source audio may be MP3 already; then there is no conversion.
      return mp3Choice ?? audio.find(({ container }) => container === 'MP3') ?? audio[0] ?? preselected;
  }
}

/** Seconds of an item by its MP3, whose bit rate is constant: a list says nothing else of durations. Undefined without it. */
export function secondsOf({ audio }: MediaInformation): number | undefined {
  const { fileSizeBytes, bitrate } = audio?.renditions?.find(({ convertTo }) => convertTo === 'mp3') ?? {};
  return fileSizeBytes && bitrate ? (fileSizeBytes * 8) / (bitrate * 1000) : undefined;
}
