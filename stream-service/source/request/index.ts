export { type ChunkPlan, createChunkPlan } from './chunk-sizer.ts';
export { unknownEntity } from './classify-response.ts';
export { createLengthAudit, createMediaAudit, createPlaylistAudit } from './completeness.ts';
export { readSmall } from './fetch-buffer.ts';
export { defaultLimits, type SourceLimits } from './limits.ts';
export { Part } from './range-fetch.ts';
export { type AskDependencies, type RangeNeed, RangeRefused, type Target } from './upstream-request.ts';
