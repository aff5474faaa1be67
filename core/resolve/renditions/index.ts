export { exactBytes } from './expected-size.ts';
export { findSound, listSounds, type Sound } from './list-sounds.ts';
export { describeSmallest, selectQuality } from './select-quality.ts';
export { promiseConversions, type RenditionSelection, selectRenditions } from './select-renditions.ts';
