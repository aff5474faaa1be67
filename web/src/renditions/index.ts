export {
  type Choice,
  type ChoiceGroup,
  type Choices,
  type FormatPreference,
  preferenceFromQuality,
  preferenceOf,
  qualityOf,
} from './choice.ts';
export { ALL_LANGUAGES, choicesOf, languageName, versionKey } from './choices.ts';
export {
  changed,
  clipFrom,
  clipName,
  formatTime,
  holdsSubtitles,
  isClippable,
  isSkippable,
  parseTime,
  secondsOfSegments,
} from './clip.ts';
export { secondsOf } from './conversions.ts';
export { selectPreferred } from './format-preference.ts';
export { languageChange, menusOf, nameOf } from './sentence.ts';
