export { bundle } from './bundle.ts';
export { buildPage, prepareOneMachineContext } from './one-machine-context.ts';
export { placeFfmpeg } from './place-ffmpeg.ts';
