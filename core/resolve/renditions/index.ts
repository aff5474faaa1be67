export { languageName, languageTag } from './audio-versions.ts';
export { audioCriteria, partnerCriteria, videoCriteria } from './criteria.ts';
export { findSound, listSounds, type Sound } from './list-sounds.ts';
export { describeSmallest, exactBytes, selectQuality } from './select-quality.ts';
export { promiseConversions, type RenditionSelection, selectRenditions } from './select-renditions.ts';
