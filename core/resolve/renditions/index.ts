export { type Quality, type QualityRequest, type SelectedRendition, selectQuality } from './select-quality.ts';
export { selectRenditions } from './select-renditions.ts';
