export {
  type AudioVersion,
  type Choice,
  type ChoiceGroup,
  type Choices,
  type DetailedAudio,
  type FormatPreference,
  preferenceFromQuality,
  preferenceOf,
  qualityOf,
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
export { MP3_BITRATES_KBPS } from './conversions.ts';
export { fileNameOf } from './file-name.ts';
export { selectPreferred } from './format-preference.ts';
export { ALL_LANGUAGES, languageName } from './languages.ts';
export { PLAYLIST_FORMATS, type PlaylistFormat, secondsOf, selectForPlaylist } from './playlist-format.ts';
export { holdsSubtitles, languageChange, type Menus, menusOf, nameOf, withExtras } from './sentence.ts';
