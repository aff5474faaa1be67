export { isRangeDoubtful, listsTracks, playbackUrl, useRanges } from './use-ranges.ts';
