export {
  type AudioVersion,
  type Choice,
  type ChoiceGroup,
  type Choices,
  type DetailedAudio,
  type FormatPreference,
  SEGMENT_CATEGORIES,
  type Segment,
  type SegmentCategory,
} from './choice.ts';
export { choicesOf, versionKey } from './choices.ts';
export {
  clipName,
  clipOf,
  formatTime,
  isClippable,
  isSkippable,
  parseTime,
  secondsOfSegments,
  withoutSegments,
} from './clip.ts';
export { fileNameOf } from './file-name.ts';
export { preferenceFromQuality, preferenceOf, qualityOf, selectPreferred } from './format-preference.ts';
export { ALL_LANGUAGES } from './languages.ts';
export { type ConversionOffers, NO_OFFERS, readOffers } from './offers.ts';
export { PLAYLIST_FORMATS, type PlaylistFormat, secondsOf, selectForPlaylist } from './playlist-format.ts';
export { holdsSubtitles, languageChange, type Menus, menusOf, nameOf, withExtras } from './sentence.ts';
