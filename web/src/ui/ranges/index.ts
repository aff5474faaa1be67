export { isRangeDoubtful, useRanges } from './use-ranges.ts';
