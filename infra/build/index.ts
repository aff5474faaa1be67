export { buildAssets } from './assets.ts';
export { bundle } from './bundle.ts';
export { buildPage, placeFfmpeg, prepareOneMachineContext } from './image-context.ts';
export { writePlaceholders } from './placeholders.ts';
