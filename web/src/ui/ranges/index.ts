export { isRangeDoubtful, playbackUrl, useRanges } from './use-ranges.ts';
