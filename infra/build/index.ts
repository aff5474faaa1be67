export { buildPage } from './build-page.ts';
export { bundle } from './bundle.ts';
export { prepareOneMachineContext } from './one-machine-context.ts';
export { placeFfmpeg } from './place-ffmpeg.ts';
