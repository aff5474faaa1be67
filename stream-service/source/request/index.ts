export { unknownEntity } from './classify-response.ts';
export { createLengthCheck, createMediaCheck, createPlaylistCheck } from './completeness.ts';
export { fetchBuffer } from './fetch-buffer.ts';
export { defaultLimits, type SourceLimits } from './limits.ts';
export { RangeFetch } from './range-fetch.ts';
export type { RangeRequirement } from './request-plan.ts';
export { type ChunkSizer, createChunkSizer } from './request-plan.ts';
export {
  fetchRange,
  type Location,
  RangeRefused,
  type UpstreamRequestDependencies,
  type UpstreamTarget,
} from './upstream-request.ts';
