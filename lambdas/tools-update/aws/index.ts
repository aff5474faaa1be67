export { createArchive } from './archive.ts';
export { createFunctionLayers } from './function-layers.ts';
export { createCanary, createLiveFunction } from './functions.ts';
export { createLayers } from './layers.ts';
