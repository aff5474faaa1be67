/** Parts that a pattern may name. */
export const PATTERN_PARTS = ['number', 'artist', 'title', 'quality'] as const;
export const DEFAULT_PATTERN = '{number} - {artist} - {title} ({quality})';
/** Longer patterns are cut. */
export const MAX_PATTERN_CHARACTERS = 60;
