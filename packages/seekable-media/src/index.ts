export { answerFor, respond } from './http/index.ts';
export { UnsupportedMp4 } from './isobmff/index.ts';
export {
  clip,
  createVirtualFile,
  type FragmentSource,
  join,
  type Source,
  urlSource,
  type VirtualFile,
} from './reading/index.ts';
