export { type EncodedName, isEncoded } from './formats.ts';
export { createFrameStreams } from './frames/index.ts';
export { type EncodeDependencies, openEncode } from './open.ts';
export { type EncodePlan, planEncode } from './plan.ts';
