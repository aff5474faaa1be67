export { type EncodeDependencies, type EncodePlan, openEncode, planEncode } from './encode.ts';
export { type EncodedName, isEncoded } from './encoded-formats.ts';
export { createFrameStreams } from './frames/index.ts';
