export { bundle } from './bundle.ts';
export { buildPage, placeFfmpeg, prepareOneMachineContext } from './image-context.ts';
