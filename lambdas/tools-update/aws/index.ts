export { createArchive, type Pointer } from './archive.ts';
export { createCanary, createLiveFunction } from './functions.ts';
export { createLayers, type LayerVersion } from './layers.ts';
