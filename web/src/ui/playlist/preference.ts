import type { Choice, Choices } from '../../renditions/index.ts';

/** Which rendition of each entry to download. */
export const PREFERENCES = ['recommended', 'highest', 'audio', 'mp3'] as const;
export type Preference = (typeof PREFERENCES)[number];

/** The rendition closest to the preference; undefined without any. */
export function preferred({ video, audio, mp3, preselected }: Choices, preference: Preference): Choice | undefined {
  switch (preference) {
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
