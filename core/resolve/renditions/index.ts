export { findSound, listSounds, type Sound } from './list-sounds.ts';
export { type SelectedRendition, selectQuality } from './select-quality.ts';
export { promiseConversions, type RenditionSelection, selectRenditions } from './select-renditions.ts';
