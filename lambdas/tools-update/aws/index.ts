export { createArchive } from './archive.ts';
export { createCanary } from './canary.ts';
export { createFunctionLayers } from './function-layers.ts';
export { createLayers } from './layers.ts';
export { createLiveFunction } from './live-function.ts';
