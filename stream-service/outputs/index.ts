export {
  type ArchiveJobs,
  createArchiveJobs,
  planArchive,
} from './archive/index.ts';
export { createComputedExtents } from './computed-extents.ts';
export { createFrameStreams } from './encode/index.ts';
export { createLayoutCaches, NoSuchFile } from './layout/index.ts';
export { createMux } from './mux/index.ts';
export { createOutputs, createSizeRecorder, type OutputPlan } from './open.ts';
export { createCovers } from './picture.ts';
export { prepareOutput } from './plan.ts';
export { type Outputs, type Representation, type RepresentationHead, toReadError } from './representation.ts';
export { createEmbeddedSubtitles, planSubtitle } from './text.ts';
