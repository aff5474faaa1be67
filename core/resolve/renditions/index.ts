export { findSound, listSounds, type Sound } from './list-sounds.ts';
export { type Quality, type QualityRequest, type SelectedRendition, selectQuality } from './select-quality.ts';
export { promiseConversions, type RenditionSelection, selectRenditions } from './select-renditions.ts';
