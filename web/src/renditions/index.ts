export { withAllAudio } from './all-audio.ts';
export type { Choice, ChoiceGroup, Choices, FormatPreference } from './choice.ts';
export { choicesOf, isClippable } from './choices.ts';
export { curlCommand, likelyShell, ytDlpCommand } from './commands.ts';
export { fileNameOf } from './file-name.ts';
export { DEFAULT_PATTERN, MAX_PATTERN_CHARACTERS, PATTERN_PARTS } from './file-name-pattern.ts';
export { preferenceFromQuality, preferenceOf, qualityOf, rowsOf } from './format-preference.ts';
export { type ConversionOffers, NO_OFFERS, readOffers } from './offers.ts';
export { PLAYLIST_FORMATS, type PlaylistFormat, selectForPlaylist } from './playlist-format.ts';
